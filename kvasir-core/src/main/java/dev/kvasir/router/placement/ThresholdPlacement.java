package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.InstanceView;

/**
 * The simple rule of the design document on elastic offload, to the letter: the other instance must
 * have less to do than the decoding one and not far more than the average, and the decoding one
 * must decode.
 */
public record ThresholdPlacement(PlacementSettings settings) implements PlacementPolicy {
  @Override
  public PrefillPlacement place(PlacementQuery query) {
    return SimpleRule.place(query, settings, this::judge);
  }

  Reason judge(PlacementQuery query, InstanceView prefill) {
    var instances = query.cluster().instances();
    long ongoing = prefill.load().ongoingTokens();
    if (ongoing >= query.decode().load().ongoingTokens()) return Reason.P_NOT_LESS_LOADED;
    double sum = 0;
    for (var instance : instances) sum += instance.load().ongoingTokens();
    if (ongoing > sum / instances.size() * settings.overloadFactor()) return Reason.P_OVERLOADED;
    if (query.decode().load().contextTokens() > 0) return Reason.P_IDLE_D_BUSY;
    return Reason.D_IDLE;
  }
}
