package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.InstanceView;

/**
 * The cost function of the design document on elastic offload, to the letter: half the prefill, if
 * the decoding instance decodes, against the queue of the other one and half a second for the
 * transfer.
 */
public record HalfCostPlacement(PlacementSettings settings) implements PlacementPolicy {
  private static final double TRANSFER_SECONDS = 0.5;
  private static final double DISRUPTION_SHARE = 0.5;

  @Override
  public PrefillPlacement place(PlacementQuery query) {
    return SimpleRule.place(query, settings, this::judge);
  }

  Reason judge(PlacementQuery query, InstanceView prefill) {
    if (query.decode().load().contextTokens() == 0) return Reason.D_IDLE;
    double throughput = settings.tokensPerSecond();
    int fresh = query.cluster().uncachedTokens(query.request(), query.decode());
    double cost = prefill.load().ongoingTokens() / throughput + TRANSFER_SECONDS;
    double benefit = fresh / throughput * DISRUPTION_SHARE;
    return benefit > cost ? Reason.P_IDLE_D_BUSY : Reason.COST_EXCEEDS_BENEFIT;
  }
}
