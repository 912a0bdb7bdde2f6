package dev.kvasir.gateway;

import dev.kvasir.gateway.dashboard.DashboardSource;
import dev.kvasir.gateway.dashboard.DashboardState;
import dev.kvasir.gateway.dashboard.DecisionState;
import dev.kvasir.gateway.dashboard.InstanceState;
import dev.kvasir.gateway.journal.Decision;
import dev.kvasir.gateway.journal.Recent;
import dev.kvasir.gateway.request.GatewayParts;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.router.Router;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import java.util.ArrayList;
import java.util.List;

/** Shows on the dashboard what a gateway and its workers do. */
final class GatewayView implements DashboardSource {
  private final Gateway gateway;
  private final GatewayParts parts;
  private final Recent recent;
  private final long originMicros;
  private final Gateway.Extensions extensions;
  private final long begunNanos = System.nanoTime();

  GatewayView(
      Gateway gateway,
      GatewayParts parts,
      Recent recent,
      long origin,
      Gateway.Extensions extensions) {
    this.gateway = gateway;
    this.parts = parts;
    this.recent = recent;
    this.originMicros = origin;
    this.extensions = extensions;
  }

  @Override
  public DashboardState snapshot() {
    var tieredCache = extensions.tieredCache().get();
    return gateway.onLoop(() -> state(tieredCache));
  }

  private DashboardState state(TieredCacheState tieredCache) {
    var decisions = recent.decisions().stream().map(this::shown).toList();
    return new DashboardState(
        extensions.version(),
        millis(parts.loop().nanos()),
        (System.nanoTime() - begunNanos) / 1e9,
        List.copyOf(parts.workers().models().keySet()),
        instances(gateway.router()),
        tieredCache.tiers(),
        tieredCache.edges(),
        decisions,
        recent.firstToken(),
        recent.nextToken());
  }

  private List<InstanceState> instances(Router router) {
    long now = parts.loop().nanos();
    var instances = new ArrayList<InstanceState>();
    for (var entry : parts.workers().entries()) {
      var name = entry.worker().name();
      var signals = parts.workers().report(entry).signals();
      var load = router.load(entry.id());
      long free = Math.max(0, signals.freeBlocks());
      double used = Math.max(0, signals.kvUtilisation());
      long total = Math.round(free / Math.max(1e-9, 1 - used));
      instances.add(
          new InstanceState(
              name,
              entry.worker().config().url().toString(),
              entry.worker().config().role(),
              entry.availability(),
              Math.max(0, signals.queueDepth()),
              Math.max(0, signals.batchSize()),
              load.prefillTokens(),
              load.decodeStreams(),
              Math.max(0, total - free),
              Math.max(free, total),
              recent.requests(name),
              recent.hitRate(name),
              recent.tokensPerSecond(name, now)));
    }
    return instances;
  }

  private DecisionState shown(Decision decision) {
    var route = decision.route();
    if (route == null) throw new IllegalStateException("only what was placed is kept");
    int prompt = Math.max(route.promptTokens(), decision.ending().usage().promptTokens());
    int reported = decision.ending().usage().cachedTokens();
    int cached = reported >= 0 ? reported : route.promptTokens() - route.uncachedTokens();
    double first = decision.firstTokenSeconds();
    return new DecisionState(
        millis(decision.request().receivedNanos()),
        decision.request().caller().tenant(),
        decision.request().id(),
        route.routeClass(),
        reason(route.reason()),
        decision.decode(),
        decision.prefill(),
        prompt,
        Math.clamp(cached, 0, prompt),
        finite(route.predicted().colocateSeconds()),
        finite(route.predicted().offloadSeconds()),
        first < 0 ? Double.NaN : first,
        decision.seconds());
  }

  private static Reason reason(String label) {
    for (var reason : Reason.values()) if (reason.label().equals(label)) return reason;
    throw new IllegalStateException("no reason " + label);
  }

  private static double finite(double seconds) {
    return Double.isFinite(seconds) ? seconds : Double.NaN;
  }

  private long millis(long nanos) {
    return (originMicros + nanos / 1_000) / 1_000;
  }
}
