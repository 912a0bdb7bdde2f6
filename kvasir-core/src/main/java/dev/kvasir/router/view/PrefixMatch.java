package dev.kvasir.router.view;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.Tier;

/** Part of one prefix that each instance holds, by its place in the index. */
public final class PrefixMatch {
  public static final int TIERS = Tier.values().length;

  /** Of a prefix without blocks: no place holds anything of it. */
  public static final PrefixMatch NOTHING = new PrefixMatch(0);

  private final int[] blocks;

  /** Blocks that are not on the device, by place and level; null while there are none. */
  private int @Nullable [] below;

  public PrefixMatch(int places) {
    this.blocks = new int[places];
  }

  public CachedBlocks at(int place) {
    int all = this == NOTHING ? 0 : blocks[place];
    if (all == 0) return CachedBlocks.NONE;
    if (below == null) return CachedBlocks.onDevice(all);
    var counts = new int[TIERS];
    counts[0] = all;
    for (int level = 1; level < TIERS; level++) {
      counts[level] = below[place * TIERS + level];
      counts[0] -= counts[level];
    }
    return CachedBlocks.of(counts);
  }

  /** These places hold that many blocks and no more. */
  public void end(int word, long places, int count) {
    for (long left = places; left != 0; left &= left - 1) {
      blocks[word * Long.SIZE + Long.numberOfTrailingZeros(left)] = count;
    }
  }

  /** One block more of these places is on that level and no faster one. */
  public void below(int word, long places, int level) {
    if (places == 0) return;
    if (below == null) below = new int[blocks.length * TIERS];
    for (long left = places; left != 0; left &= left - 1) {
      below[(word * Long.SIZE + Long.numberOfTrailingZeros(left)) * TIERS + level]++;
    }
  }
}
