package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import java.util.Arrays;
import java.util.List;

/** Number of blocks that were found cached, by tier. */
public final class CachedBlocks {
  public static final CachedBlocks NONE = new CachedBlocks(new int[0]);

  /** By level, up to the slowest tier that has some. */
  private final int[] counts;

  private CachedBlocks(int[] counts) {
    this.counts = counts;
  }

  /** The number of blocks on each tier, from the fastest down; 0 for those left out. */
  public static CachedBlocks of(int... counts) {
    int length = counts.length;
    for (int count : counts) {
      if (count < 0) throw new IllegalArgumentException(Arrays.toString(counts));
    }
    while (length > 0 && counts[length - 1] == 0) length--;
    return length == 0 ? NONE : new CachedBlocks(Arrays.copyOf(counts, length));
  }

  /** That many blocks, all on the fastest tier. */
  public static CachedBlocks onDevice(int blocks) {
    return blocks == 0 ? NONE : new CachedBlocks(new int[] {blocks});
  }

  /** Blocks that were found on these tiers. */
  public static CachedBlocks of(List<Tier> tiers) {
    var counts = new int[Tier.values().length];
    for (var tier : tiers) counts[tier.level()]++;
    return of(counts);
  }

  public int total() {
    int total = 0;
    for (int count : counts) total += count;
    return total;
  }

  public int on(Tier tier) {
    return onLevel(tier.level());
  }

  private int onLevel(int level) {
    return level < counts.length ? counts[level] : 0;
  }

  /** The first of them; the end of a prompt lies on slower tiers than its beginning. */
  public CachedBlocks first(int blocks) {
    if (blocks >= total()) return this;
    var some = new int[counts.length];
    int left = blocks;
    for (int level = 0; level < some.length; level++) {
      some[level] = Math.min(counts[level], left);
      left -= some[level];
    }
    return of(some);
  }

  /** Returns the sum of the blocks, each multiplied by the weight of its tier. */
  public double weighted(double[] weights) {
    double sum = 0;
    for (int level = 0; level < counts.length; level++) sum += weights[level] * counts[level];
    return sum;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CachedBlocks blocks && Arrays.equals(counts, blocks.counts);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(counts);
  }

  @Override
  public String toString() {
    return "cached by tier " + Arrays.toString(counts);
  }
}
