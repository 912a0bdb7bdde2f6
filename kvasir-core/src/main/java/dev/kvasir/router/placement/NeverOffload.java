package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Reason;

/** Prefills every request on the instance that decodes it. */
public record NeverOffload(PlacementSettings settings) implements PlacementPolicy {
  @Override
  public PrefillPlacement place(PlacementQuery query) {
    return new Colocate(
        query.decode().id(), Reason.DISABLED, Prediction.colocated(query, settings));
  }

  @Override
  public boolean offloads() {
    return false;
  }
}
