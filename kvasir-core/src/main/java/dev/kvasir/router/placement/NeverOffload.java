package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Reason;

/** Lets every request prefill where it decodes. */
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
