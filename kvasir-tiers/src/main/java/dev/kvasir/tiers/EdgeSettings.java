package dev.kvasir.tiers;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.offload.onboard.LoadWindows;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.offload.store.TierStore;
import java.util.ArrayList;

/**
 * Settings for what is moved down to a tier from the one above it, how, and what is brought back.
 *
 * @param usesMin only blocks that were used more often than that lately are moved; 0 for all
 * @param pipeline way in which they are moved
 * @param cost cost of bringing them back, and of computing them again instead
 */
public record EdgeSettings(int usesMin, PipelineSettings pipeline, ReuseCost cost) {
  public static final EdgeSettings DEFAULT =
      new EdgeSettings(0, PipelineSettings.DEFAULT, ReuseCost.FREE);

  public EdgeSettings {
    if (usesMin < 0) throw new IllegalArgumentException("uses " + usesMin + ", expected 0 or more");
  }

  /** Returns whether it must be known how often blocks are used. */
  boolean countsUses() {
    return usesMin > 0;
  }

  /** Returns whether it may be quicker to compute a block than to bring it back. */
  public boolean weighsCost() {
    return !cost.equals(ReuseCost.FREE);
  }

  /** Returns the number of blocks that are moved together at most. */
  public int batchBlocksMax() {
    return pipeline.batch().blocksMax();
  }

  LowerTier lower(BlockPool pool, TierStore store, LoadWindows windows) {
    var policies = new ArrayList<OffloadPolicy>();
    policies.add(OffloadPolicy.presence());
    if (countsUses()) policies.add(OffloadPolicy.frequency(usesMin));
    if (weighsCost()) policies.add(OffloadPolicy.cost(cost));
    return new LowerTier(pool, store, OffloadPolicy.allOf(policies), pipeline, cost, windows);
  }
}
