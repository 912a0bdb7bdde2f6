package dev.kvasir.live.engine.tier;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.offload.store.TierStore;
import java.util.ArrayList;

/**
 * What is moved down to a tier from the one above it, how, and what is brought back.
 *
 * @param usesMin only blocks that were used more often than that lately are moved; 0 for all
 * @param pipeline how they are moved
 * @param cost what bringing them back takes, and computing them again instead
 */
public record EdgeSettings(int usesMin, PipelineSettings pipeline, ReuseCost cost) {
  public static final EdgeSettings DEFAULT =
      new EdgeSettings(0, PipelineSettings.DEFAULT, ReuseCost.FREE);

  public EdgeSettings {
    if (usesMin < 0) throw new IllegalArgumentException("uses " + usesMin + ", expected 0 or more");
  }

  /** Whether it must be known how often blocks are used. */
  boolean countsUses() {
    return usesMin > 0;
  }

  /** Whether it may be quicker to compute a block than to bring it back. */
  public boolean weighsCost() {
    return !cost.equals(ReuseCost.FREE);
  }

  /** How many blocks are moved together at most. */
  public int batchBlocksMax() {
    return pipeline.batch().blocksMax();
  }

  LowerTier lower(BlockPool pool, TierStore store) {
    var policies = new ArrayList<OffloadPolicy>();
    policies.add(OffloadPolicy.presence());
    if (countsUses()) policies.add(OffloadPolicy.frequency(usesMin));
    if (weighsCost()) policies.add(OffloadPolicy.cost(cost));
    return new LowerTier(pool, store, OffloadPolicy.allOf(policies), pipeline, cost);
  }
}
