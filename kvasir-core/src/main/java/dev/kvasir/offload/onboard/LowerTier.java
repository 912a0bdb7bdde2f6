package dev.kvasir.offload.onboard;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.offload.store.TierStore;

/**
 * One tier below the top of the tiered cache.
 *
 * @param pool its blocks
 * @param store its bytes
 * @param policy what is worth moving down to it
 * @param settings how blocks are moved down to it
 * @param cost what fetching from it costs, for the test whether recomputing is cheaper
 * @param windows how much of its loads the store has at a time
 */
public record LowerTier(
    BlockPool pool,
    TierStore store,
    OffloadPolicy policy,
    PipelineSettings settings,
    ReuseCost cost,
    LoadWindows windows) {

  /**
   * The default settings: blocks that are not there yet are moved down, and always worth loading.
   */
  public static LowerTier of(BlockPool pool, TierStore store) {
    return new LowerTier(
        pool,
        store,
        OffloadPolicy.presence(),
        PipelineSettings.DEFAULT,
        ReuseCost.FREE,
        LoadWindows.WHOLE);
  }

  public LowerTier with(OffloadPolicy policy) {
    return new LowerTier(pool, store, policy, settings, cost, windows);
  }

  public LowerTier with(PipelineSettings settings) {
    return new LowerTier(pool, store, policy, settings, cost, windows);
  }

  public LowerTier with(ReuseCost cost) {
    return new LowerTier(pool, store, policy, settings, cost, windows);
  }

  public LowerTier with(LoadWindows windows) {
    return new LowerTier(pool, store, policy, settings, cost, windows);
  }
}
