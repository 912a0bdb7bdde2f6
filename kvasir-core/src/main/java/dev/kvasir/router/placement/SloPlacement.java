package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.SloTargets;

/**
 * Prefills where the request and the others there meet their latency targets: where it decodes if
 * possible, else elsewhere. If no instance meets them, the prediction decides.
 */
public record SloPlacement(PlacementSettings settings) implements PlacementPolicy {
  private static final double NOT_SPARED = Double.POSITIVE_INFINITY;

  @Override
  public PrefillPlacement place(PlacementQuery query) {
    var decode = query.decode();
    if (query.routeClass() != RouteClass.HEAVY) {
      return new PredictivePlacement(settings).place(query);
    }
    double budget = settings.targets().firstTokenSeconds(query.request().promptTokens());
    var alone = Prediction.colocated(query, settings);
    if (alone.colocateSeconds() <= budget && spares(query, decode)) {
      return new Colocate(decode.id(), Reason.MEETS_SLO, alone);
    }
    var prefill =
        Prefillers.withRoom(query, settings)
            .cheapest(other -> spares(query, other) ? offloadSeconds(query, other) : NOT_SPARED);
    if (prefill != null && spares(query, prefill) && offloadSeconds(query, prefill) <= budget) {
      var predicted = Prediction.of(query, prefill, settings);
      return new Offload(prefill.id(), decode.id(), Reason.OFFLOAD_MEETS_SLO, predicted);
    }
    return new PredictivePlacement(settings).place(query);
  }

  @Override
  public boolean staysHome(PlacementQuery home, StickyLimits limits) {
    return new PredictivePlacement(settings).staysHome(home, limits);
  }

  @Override
  public SloTargets targets() {
    return settings.targets();
  }

  /** Returns whether no stream on the instance would be late because of the prefill. */
  private static boolean spares(PlacementQuery query, InstanceView instance) {
    return instance.load().slackSeconds() >= query.ownSeconds(instance);
  }

  private double offloadSeconds(PlacementQuery query, InstanceView prefill) {
    return Prediction.of(query, prefill, settings).offloadSeconds();
  }
}
