package dev.kvasir.offload.onboard;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.pipeline.ReuseCost;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Decides how much of a found prefix to load, since computing it again may be cheaper.
 *
 * <p>A block that is not loaded is computed again with all blocks behind it. So the prefix is cut
 * where loading the blocks before and computing those after cost least in total.
 */
public final class PromotionChoice {
  private final Map<Tier, ReuseCost> costs = new EnumMap<>(Tier.class);

  /** A tier without its own figures takes computing to be expensive. */
  private final long recomputeNanos;

  public PromotionChoice(List<LowerTier> lowerTiers) {
    for (var lower : lowerTiers) costs.put(lower.pool().tier(), lower.cost());
    this.recomputeNanos =
        costs.values().stream()
            .mapToLong(cost -> cost.recomputePerBlock().toNanos())
            .min()
            .orElse(0);
  }

  /** Returns the number of leading blocks to have at the top, given the tiers of all. */
  public int blocks(List<Tier> tiers) {
    var used = new EnumMap<Tier, Boolean>(Tier.class);
    int best = 0;
    long bestNanos = 0;
    long nanos = 0;
    for (int i = 0; i < tiers.size(); i++) {
      var cost = costs.get(tiers.get(i));
      if (cost != null) {
        nanos += cost.loadPerBlock().toNanos();
        if (used.put(tiers.get(i), true) == null) nanos += cost.loadLatency().toNanos();
      }
      nanos -= recomputeNanos;
      if (nanos <= bestNanos) {
        best = i + 1;
        bestNanos = nanos;
      }
    }
    return best;
  }
}
