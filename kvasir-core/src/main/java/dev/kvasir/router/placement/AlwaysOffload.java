package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Reason;

/** Sends every heavy prefill to another instance, the one with the fewest ongoing tokens. */
public record AlwaysOffload(PlacementSettings settings) implements PlacementPolicy {
  @Override
  public PrefillPlacement place(PlacementQuery query) {
    return SimpleRule.place(query, settings, (_, _) -> Reason.FORCED);
  }
}
