package dev.kvasir.cli.settings;

import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * A service of Kubernetes whose endpoints are workers.
 *
 * @param service its name; empty for none
 * @param port the name of its port; empty where it has one
 * @param api the URL of the API server
 * @param account the folder with the token and the certificate of the pod's account
 */
public record KubernetesSettings(
    String service, String namespace, String port, String api, Path account) {
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");

  public static final KubernetesSettings DEFAULT =
      new KubernetesSettings(
          "",
          "default",
          "",
          "https://kubernetes.default.svc",
          Path.of("/var/run/secrets/kubernetes.io/serviceaccount"));

  public KubernetesSettings {
    for (var name : new String[] {service, namespace, port}) {
      if (!name.isEmpty() && !NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "'" + name + "', expected small letters, digits and hyphens");
      }
    }
    if (!api.matches("https?://[A-Za-z0-9.:\\[\\]-]+")) {
      throw new IllegalArgumentException("'" + api + "', expected https://HOST:PORT");
    }
  }
}
