package dev.kvasir.gateway.picker;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.worker.GatewayWorkers;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.router.worker.Submission;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The addresses of workers, as Envoy needs them: IP address and port.
 *
 * <p>Names are looked up on a thread of their own and kept for a while; until a first answer is
 * there, the name itself is told. From any thread, if nothing else is said.
 */
final class WorkerAddresses {
  private static final System.Logger LOG = System.getLogger(WorkerAddresses.class.getName());
  private static final Duration KEPT = Duration.ofSeconds(10);
  private static final int NAMES_MAX = 4_096;

  private record Found(String address, long untilNanos) {}

  private final Map<String, Found> known = new ConcurrentHashMap<>();
  private final Map<String, Boolean> resolving = new ConcurrentHashMap<>();

  /** Address and port of the worker. */
  String of(Worker worker) {
    var host = worker.url().getHost();
    if (isAddress(host)) return host + ":" + worker.port();
    var found = known.get(host);
    if (found == null || found.untilNanos - System.nanoTime() < 0) resolve(host);
    return (found == null ? host : found.address) + ":" + worker.port();
  }

  /**
   * Returns the submission, for no other workers than those at the addresses; on their loop.
   *
   * @param addresses null for all
   */
  Submission limit(
      Submission submission, GatewayWorkers workers, @Nullable List<String> addresses) {
    if (addresses == null) return submission;
    var route = submission.route();
    for (var entry : workers.entries()) {
      if (!addresses.contains(of(entry.worker().config()))) route = route.avoiding(entry.id());
    }
    return submission.with(route);
  }

  private static boolean isAddress(String host) {
    return host.startsWith("[") || host.matches("\\d{1,3}(\\.\\d{1,3}){3}");
  }

  private void resolve(String host) {
    if (resolving.putIfAbsent(host, true) != null) return;
    Thread.ofVirtual().name("kvasir-addresses").start(() -> find(host));
  }

  void find(String host) {
    try {
      var address = InetAddress.getByName(host).getHostAddress();
      var bracketed = address.indexOf(':') < 0 ? address : "[" + address + "]";
      // Workers that are gone leave their names behind.
      if (known.size() >= NAMES_MAX) known.clear();
      known.put(host, new Found(bracketed, System.nanoTime() + KEPT.toNanos()));
    } catch (UnknownHostException e) {
      LOG.log(WARNING, "the address of worker {0} is not known: {1}", host, e.getMessage());
    } finally {
      resolving.remove(host);
    }
  }
}
