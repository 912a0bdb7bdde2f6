package dev.kvasir.offload.state;

import java.util.List;

/**
 * The memory of engines of our own, as the dashboard shows it and Prometheus is told.
 *
 * @param tiers from the fastest down
 * @param edges the pipelines between them, from the top down
 * @param onboardings what is on its way up, for each engine
 * @param stores what keeps the bytes of the tiers below host memory, from the top down
 * @param unavailable tiers that are configured and could not be opened
 */
public record TieredCacheState(
    List<TierState> tiers,
    List<EdgeState> edges,
    List<OnboardingState> onboardings,
    List<StoreTally> stores,
    List<String> unavailable) {
  /** State to show where engines run elsewhere. */
  public static final TieredCacheState NONE =
      new TieredCacheState(List.of(), List.of(), List.of(), List.of(), List.of());

  public TieredCacheState {
    tiers = List.copyOf(tiers);
    edges = List.copyOf(edges);
    onboardings = List.copyOf(onboardings);
    stores = List.copyOf(stores);
    unavailable = List.copyOf(unavailable);
  }
}
