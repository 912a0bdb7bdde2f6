package dev.kvasir.offload.onboard;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.offload.store.TierStore;

/**
 * One tier below the top of the ladder.
 *
 * @param pool its blocks
 * @param store its bytes
 * @param policy what is worth moving down to it
 * @param settings how blocks are moved down to it
 * @param cost what fetching from it costs, for the test whether recomputing is cheaper
 */
public record Rung(
    BlockPool pool,
    TierStore store,
    OffloadPolicy policy,
    PipelineSettings settings,
    ReuseCost cost) {

  /** The usual settings: what is not there yet is moved down, and always worth fetching. */
  public static Rung of(BlockPool pool, TierStore store) {
    return new Rung(
        pool, store, OffloadPolicy.presence(), PipelineSettings.DEFAULT, ReuseCost.FREE);
  }

  public Rung with(OffloadPolicy policy) {
    return new Rung(pool, store, policy, settings, cost);
  }

  public Rung with(PipelineSettings settings) {
    return new Rung(pool, store, policy, settings, cost);
  }

  public Rung with(ReuseCost cost) {
    return new Rung(pool, store, policy, settings, cost);
  }
}
