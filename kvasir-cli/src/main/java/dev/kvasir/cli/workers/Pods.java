package dev.kvasir.cli.workers;

import static java.lang.System.Logger.Level.DEBUG;

import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.KubernetesSettings;
import dev.kvasir.cli.settings.WorkerSettings;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/**
 * The workers that are pods of Kubernetes with certain labels: those of a selector, or of an
 * InferencePool, which has a selector and a port.
 *
 * <p>Pods that terminate or are done are left out. Whether the others are ready the router finds
 * out by itself.
 */
final class Pods implements WorkerDiscovery.Lookup {
  private static final System.Logger LOG = System.getLogger(Pods.class.getName());

  private final DiscoverySettings settings;
  private final KubernetesSettings kubernetes;
  private final KubernetesApi api;

  Pods(DiscoverySettings settings) {
    this.settings = settings;
    this.kubernetes = settings.kubernetes();
    this.api = new KubernetesApi(kubernetes);
  }

  /** Choice of pods, and the port at which each of them listens. */
  private record Choice(String selector, String port) {}

  @Override
  public List<WorkerSettings> workers() throws IOException {
    var choice = choice();
    var addresses = new TreeSet<String>();
    for (var pod : api.read(path(choice.selector) + "&resourceVersion=0").path("items")) {
      var status = pod.path("status");
      boolean isLeaving = pod.path("metadata").has("deletionTimestamp");
      if (isLeaving || !status.path("phase").asString("").equals("Running")) continue;
      var address = status.path("podIP").asString("");
      var port = port(choice.port, pod.path("spec").path("containers"));
      if (!address.isEmpty() && !port.isEmpty()) addresses.add(address + " " + port);
    }
    return settings.workers(addresses);
  }

  @Override
  public void watch(Runnable changed) throws IOException {
    if (kubernetes.pool().isEmpty()) {
      api.watch(path(choice().selector), changed);
      return;
    }
    var watch = Thread.ofVirtual().name("kvasir-watch-pool").start(() -> watchPool(changed));
    try {
      api.watch(path(choice().selector), changed);
    } finally {
      watch.interrupt();
    }
  }

  /**
   * Another selector of the pool counts at once; its pods are watched when the next watch begins.
   */
  private void watchPool(Runnable changed) {
    try {
      api.watch(pools() + "?fieldSelector=metadata.name%3D" + kubernetes.pool(), changed);
    } catch (IOException | RuntimeException e) {
      LOG.log(DEBUG, "the watch of {0} ended: {1}", this, e.getMessage());
    }
  }

  private String pools() {
    return "/apis/inference.networking.k8s.io/v1/namespaces/"
        + kubernetes.namespace()
        + "/inferencepools";
  }

  @Override
  public boolean isWatched() {
    return true;
  }

  private Choice choice() throws IOException {
    if (kubernetes.pool().isEmpty()) return new Choice(kubernetes.pods(), kubernetes.port());
    var spec = api.read(pools() + "/" + kubernetes.pool()).path("spec");
    var labels = new TreeSet<String>();
    for (var label : spec.path("selector").path("matchLabels").properties()) {
      labels.add(label.getKey() + "=" + label.getValue().asString(""));
    }
    var port = spec.path("targetPorts").path(0).path("number").asString("");
    if (labels.isEmpty() || port.isEmpty()) {
      throw new IOException(this + " has no matchLabels or no targetPorts");
    }
    return new Choice(String.join(",", labels), port);
  }

  /** A number as it is; else the port of that name, or the only one where none is named. */
  private static String port(String requested, JsonNode containers) {
    if (requested.matches("\\d+")) return requested;
    var only = "";
    int count = 0;
    for (var container : containers) {
      for (var port : container.path("ports")) {
        if (!requested.isEmpty() && !port.path("name").asString("").equals(requested)) continue;
        only = port.path("containerPort").asString("");
        count++;
      }
    }
    return count == 1 ? only : "";
  }

  private String path(String selector) {
    return "/api/v1/namespaces/"
        + kubernetes.namespace()
        + "/pods?labelSelector="
        + URLEncoder.encode(selector, StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return kubernetes.pool().isEmpty()
        ? "pods " + kubernetes.namespace() + "/" + kubernetes.pods()
        : "pool " + kubernetes.namespace() + "/" + kubernetes.pool();
  }
}
