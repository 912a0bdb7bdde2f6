package dev.kvasir.cli.settings;

import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Pods of Kubernetes that are workers: those of a service, of a selector or of an InferencePool.
 *
 * @param service the name of the service; empty for none
 * @param pods a selector of labels, as in {@code app=vllm}; empty for none
 * @param pool the name of the InferencePool; empty for none
 * @param port the name of the port, or for pods its number; empty where there is one
 * @param api the URL of the API server
 * @param account the folder with the token and the certificate of the pod's account
 */
public record KubernetesSettings(
    String service,
    String pods,
    String pool,
    String namespace,
    String port,
    String api,
    Path account) {
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");

  public static final KubernetesSettings DEFAULT =
      new KubernetesSettings(
          "",
          "",
          "",
          "default",
          "",
          "https://kubernetes.default.svc",
          Path.of("/var/run/secrets/kubernetes.io/serviceaccount"));

  public KubernetesSettings {
    for (var name : new String[] {service, pool, namespace, port}) {
      if (!name.isEmpty() && !NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "'" + name + "', expected small letters, digits and hyphens");
      }
    }
    if (!pods.matches("[A-Za-z0-9._/=!,() -]*")) {
      throw new IllegalArgumentException(
          "'" + pods + "', expected a selector of labels, as in app=vllm,tier!=test");
    }
    long named = Stream.of(service, pods, pool).filter(each -> !each.isEmpty()).count();
    if (named > 1) {
      throw new IllegalArgumentException(
          "service '%s', pods '%s' and pool '%s', expected one of them"
              .formatted(service, pods, pool));
    }
    if (!api.matches("https?://[A-Za-z0-9.:\\[\\]-]+")) {
      throw new IllegalArgumentException("'" + api + "', expected https://HOST:PORT");
    }
  }

  /** Returns whether a service or pods are named. */
  public boolean isOn() {
    return !service.isEmpty() || isPods();
  }

  /** Returns whether pods are found by their labels. */
  public boolean isPods() {
    return !pods.isEmpty() || !pool.isEmpty();
  }
}
