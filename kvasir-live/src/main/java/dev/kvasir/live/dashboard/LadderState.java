package dev.kvasir.live.dashboard;

import java.util.List;

/**
 * The memory of engines of our own, as the dashboard shows it.
 *
 * @param tiers from the fastest down
 * @param edges the pipelines between them, from the top down
 */
public record LadderState(List<TierState> tiers, List<EdgeState> edges) {
  /** What there is to show where engines run elsewhere. */
  public static final LadderState NONE = new LadderState(List.of(), List.of());

  public LadderState {
    tiers = List.copyOf(tiers);
    edges = List.copyOf(edges);
  }
}
