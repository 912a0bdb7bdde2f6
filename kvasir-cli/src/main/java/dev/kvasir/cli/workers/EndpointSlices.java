package dev.kvasir.cli.workers;

import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.KubernetesSettings;
import dev.kvasir.cli.settings.WorkerSettings;
import java.io.IOException;
import java.util.List;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/**
 * The workers of a Kubernetes service: the endpoints of its EndpointSlices, asked of the API server
 * with the account of the pod.
 *
 * <p>Endpoints that terminate are left out. Whether the others are ready the router finds out by
 * itself, so that what the API server knows of that may be late.
 */
final class EndpointSlices implements WorkerDiscovery.Lookup {
  private final DiscoverySettings settings;
  private final KubernetesSettings kubernetes;
  private final KubernetesApi api;

  EndpointSlices(DiscoverySettings settings) {
    this.settings = settings;
    this.kubernetes = settings.kubernetes();
    this.api = new KubernetesApi(kubernetes);
  }

  @Override
  public List<WorkerSettings> workers() throws IOException {
    var addresses = new TreeSet<String>();
    for (var slice : api.read(path() + "&resourceVersion=0").path("items")) {
      var port = port(slice.path("ports"));
      for (var endpoint : slice.path("endpoints")) {
        if (port.isEmpty() || endpoint.path("conditions").path("terminating").asBoolean(false)) {
          continue;
        }
        // All addresses of an endpoint are the same pod.
        var address = endpoint.path("addresses").path(0).asString("");
        if (!address.isEmpty()) addresses.add(address + " " + port);
      }
    }
    return settings.workers(addresses);
  }

  @Override
  public void watch(Runnable changed) throws IOException {
    api.watch(path(), changed);
  }

  @Override
  public boolean isWatched() {
    return true;
  }

  /** The port of that name, or the only one; empty where there is none. */
  private String port(JsonNode ports) {
    for (var port : ports) {
      boolean isMeant =
          kubernetes.port().isEmpty()
              ? ports.size() == 1
              : port.path("name").asString("").equals(kubernetes.port());
      if (isMeant) return port.path("port").asString("");
    }
    return "";
  }

  private String path() {
    return "/apis/discovery.k8s.io/v1/namespaces/"
        + kubernetes.namespace()
        + "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D"
        + kubernetes.service();
  }

  @Override
  public String toString() {
    return "service " + kubernetes.namespace() + "/" + kubernetes.service();
  }
}
