package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.router.view.Role;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Settings for discovering workers that are not in the settings.
 *
 * @param start whether it may start without any worker, since they are added by the worker API
 * @param file a file with a list of workers; null for none
 * @param dns a name with SRV records, one for each worker; empty for none
 * @param dnsServer whom to ask, as HOST or HOST:PORT; empty for the system's
 * @param kubernetes pods that are workers
 * @param eventsPort where each worker that has no keys of its own tells its KV events; 0 for none
 * @param replayPort where it repeats them; 0 for none
 * @param tierPort where the tier daemon below it tells what it holds; 0 for none
 * @param tierReplayPort where that repeats it; 0 for none
 */
public record DiscoverySettings(
    Start start,
    @Nullable Path file,
    String dns,
    String dnsServer,
    KubernetesSettings kubernetes,
    Duration pace,
    int eventsPort,
    int replayPort,
    int tierPort,
    int tierReplayPort) {
  /** Requirement for workers at the start. */
  public enum Start {
    WITH_WORKERS,
    EMPTY
  }

  public static final DiscoverySettings DEFAULT =
      new DiscoverySettings(
          Start.WITH_WORKERS,
          null,
          "",
          "",
          KubernetesSettings.DEFAULT,
          Duration.ofSeconds(5),
          0,
          0,
          0,
          0);

  private static final int PORT_MAX = 65_535;

  public DiscoverySettings {
    if (!pace.isPositive()) throw new IllegalArgumentException("pace " + pace + ", expected more");
    for (int port : new int[] {eventsPort, replayPort, tierPort, tierReplayPort}) {
      if (port < 0 || port > PORT_MAX) {
        throw new IllegalArgumentException("port " + port + ", expected 0 to " + PORT_MAX);
      }
    }
    if (tierPort > 0 && eventsPort == 0) {
      throw new IllegalArgumentException(
          "tier-port "
              + tierPort
              + " without events-port: a tier reports hashes, and only KV events report tokens");
    }
    if (!dnsServer.isEmpty() && !dnsServer.matches("[A-Za-z0-9.-]+(:\\d{1,5})?")) {
      throw new IllegalArgumentException("'" + dnsServer + "', expected HOST or HOST:PORT");
    }
    if (!dns.isEmpty() && !dns.matches("[A-Za-z0-9._-]+")) {
      throw new IllegalArgumentException(
          "'" + dns + "', expected a name, as in _http._tcp.vllm.default.svc.cluster.local");
    }
  }

  /** Returns whether workers may be found that are not in the settings. */
  public boolean isOn() {
    return start == Start.EMPTY || file != null || !dns.isEmpty() || kubernetes.isOn();
  }

  /** Workers of which only addresses and ports are known, each as {@code ADDRESS PORT}. */
  public List<WorkerSettings> workers(Collection<String> places) {
    var workers = new ArrayList<WorkerSettings>();
    for (var each : places) {
      var parts = each.split(" ", -1);
      workers.add(worker(parts[0].contains(":") ? "[" + parts[0] + "]" : parts[0], parts[1]));
    }
    return workers;
  }

  /** A worker of which only host and port are known. */
  public WorkerSettings worker(String host, String port) {
    return new WorkerSettings(
        "http://" + host + ":" + port,
        "",
        Role.BOTH,
        Connector.NONE,
        "",
        endpoint(host, eventsPort),
        endpoint(host, replayPort),
        "",
        endpoint(host, tierPort),
        endpoint(host, tierReplayPort));
  }

  private static String endpoint(String host, int port) {
    return port == 0 ? "" : "tcp://" + host + ":" + port;
  }
}
