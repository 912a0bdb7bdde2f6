package dev.kvasir.router.view;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;

/** How much of one prefix each instance holds, by its place in the index. */
public final class PrefixMatch {
  public static final int TIERS = 5;

  private final int[] blocks;

  /** Blocks that are not on the device, by place and level; null while there are none. */
  private int @Nullable [] below;

  public PrefixMatch(int places) {
    this.blocks = new int[places];
  }

  public CachedBlocks at(int place) {
    int all = blocks[place];
    if (all == 0) return CachedBlocks.NONE;
    if (below == null) return new CachedBlocks(all, 0, 0, 0, 0);
    int from = place * TIERS;
    int host = below[from + 1];
    int disk = below[from + 2];
    int remote = below[from + 3];
    int object = below[from + 4];
    int device = all - host - disk - remote - object;
    return new CachedBlocks(device, host, disk, remote, object);
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
