package dev.kvasir.router.view;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.Tier;
import java.util.Arrays;

/**
 * The worth of a cached block on each tier: 1 saves all of its prefill, 0 nothing.
 *
 * <p>Loading a block from a slower tier takes a part of the time that it saves.
 */
public final class TierCredit {
  public static final TierCredit DEFAULT =
      new TierCredit(Arrays.stream(Tier.values()).mapToDouble(Tier::credit).toArray());

  private final double[] byLevel;

  /** A credit for each tier, from the fastest down. */
  public TierCredit(double... credits) {
    byLevel = credits.clone();
    boolean falls = byLevel.length == Tier.values().length;
    double above = 1;
    for (double credit : byLevel) {
      falls &= credit <= above && credit >= 0;
      above = credit;
    }
    if (!falls) {
      throw new IllegalArgumentException(
          "credits %s, expected %s from 1 down to 0"
              .formatted(Arrays.toString(byLevel), Tier.values().length));
    }
  }

  /** The blocks as if all lay on the device. */
  double blocks(CachedBlocks cached) {
    return cached.weighted(byLevel);
  }
}
