package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.InstanceView;

/**
 * Sends a heavy prefill elsewhere if the prediction says that this gains more than it costs.
 *
 * <p>The cost of each side is its queue, the prefill after its cached prefix, and the decodes that
 * this disturbs; the other side adds the transfer. If there is no gain, the reason is the simplest
 * fact that explains it.
 */
public record PredictivePlacement(PlacementSettings settings) implements PlacementPolicy {
  @Override
  public PrefillPlacement place(PlacementQuery query) {
    var decode = query.decode();
    if (query.routeClass() != RouteClass.HEAVY) return alone(query, Reason.BELOW_THRESHOLD);
    var prefillers = Prefillers.withRoom(query, settings);
    var prefill = prefillers.cheapest(other -> seconds(query, other));
    if (prefill == null) return alone(query, prefillers.refusal());
    var predicted = Prediction.of(query, prefill, settings);
    return predicted.gainSeconds() > settings.marginSeconds(prefill, predicted)
        ? new Offload(prefill.id(), decode.id(), offloadReason(decode, prefill), predicted)
        : new Colocate(decode.id(), colocateReason(query, prefill), predicted);
  }

  /** A session leaves its home as soon as that helps more than doing work again hurts. */
  @Override
  public boolean staysHome(PlacementQuery home, StickyLimits limits) {
    double patience = Math.min(settings.marginSeconds(), limits.patienceSeconds());
    return home.lateSeconds(1 + Prediction.REWORK) <= patience;
  }

  /** Returns the cost of the other without the transfer, which costs the same for all. */
  private double seconds(PlacementQuery query, InstanceView other) {
    return query.queueSeconds(other)
        + (1 + Prediction.REWORK + settings.harm(other)) * query.ownSeconds(other);
  }

  private PrefillPlacement alone(PlacementQuery query, Reason reason) {
    return new Colocate(query.decode().id(), reason, Prediction.colocated(query, settings));
  }

  private static Reason offloadReason(InstanceView decode, InstanceView prefill) {
    if (decode.load().isIdle()) return Reason.OFFLOAD_CHEAPER;
    if (prefill.load().isIdle()) return Reason.P_IDLE_D_BUSY;
    boolean lighter = prefill.load().ongoingTokens() < decode.load().ongoingTokens();
    return lighter ? Reason.P_LIGHTER_D_BUSY : Reason.OFFLOAD_CHEAPER;
  }

  private Reason colocateReason(PlacementQuery query, InstanceView prefill) {
    var decode = query.decode().load();
    if (decode.isIdle()) return Reason.D_IDLE;
    long ongoing = prefill.load().ongoingTokens();
    if (ongoing >= decode.ongoingTokens()) return Reason.P_NOT_LESS_LOADED;
    var instances = query.cluster().instances();
    double sum = 0;
    for (var instance : instances) sum += instance.load().ongoingTokens();
    boolean overloaded = ongoing > sum / instances.size() * settings.overloadFactor();
    return overloaded ? Reason.P_OVERLOADED : Reason.COST_EXCEEDS_BENEFIT;
  }
}
