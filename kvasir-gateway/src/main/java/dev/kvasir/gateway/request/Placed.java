package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.worker.GatewayWorkers;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.router.RouteRecord;

/**
 * Placement of an attempt of a request.
 *
 * @param prefill the other worker; null where there is none
 * @param engine name by which the other worker is asked for what it prefilled
 */
public record Placed(
    int attempt, RouteRecord route, Worker decode, @Nullable Worker prefill, String engine) {
  static Placed of(int attempt, RouteRecord route, GatewayWorkers workers) {
    var decode = workers.entry(route.decode()).worker().config();
    // One that failed at the prefill may be gone.
    var entry = workers.table().find(route.prefill());
    if (entry == null) return new Placed(attempt, route, decode, null, "");
    return new Placed(attempt, route, decode, entry.worker().config(), entry.worker().engine());
  }

  /** The worker that is to prefill. */
  public Worker prefiller() {
    if (prefill == null) throw new IllegalStateException("no prefill elsewhere: " + route);
    return prefill;
  }
}
