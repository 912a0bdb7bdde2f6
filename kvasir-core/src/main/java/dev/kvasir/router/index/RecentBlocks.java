package dev.kvasir.router.index;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import java.util.List;

/** A bounded set of the most recently used block hashes. */
public final class RecentBlocks {
  private static final int NONE = -1;

  private final BlockTable table;
  private final int[] older;
  private final int[] newer;
  private int newest = NONE;
  private int oldest = NONE;

  public RecentBlocks(int capacity) {
    this.table = new BlockTable(capacity, 0);
    this.older = new int[capacity];
    this.newer = new int[capacity];
  }

  int size() {
    return table.size();
  }

  boolean contains(BlockHash hash) {
    return table.find(hash) != BlockTable.ABSENT;
  }

  /** Returns how many of the hashes, from the first on, are here; asking does not count as use. */
  public int match(List<BlockHash> hashes) {
    int matched = 0;
    while (matched < hashes.size() && contains(hashes.get(matched))) matched++;
    return matched;
  }

  /** Makes the hash the newest; answers with the one that had to go for it, if one had. */
  public @Nullable BlockHash touch(BlockHash hash) {
    int row = table.find(hash);
    BlockHash gone = null;
    if (row != BlockTable.ABSENT) {
      unlink(row);
    } else {
      if (table.isFull()) {
        gone = table.hash(oldest);
        int victim = oldest;
        unlink(victim);
        table.remove(victim);
      }
      row = table.add(hash);
    }
    link(row);
    return gone;
  }

  private void link(int row) {
    older[row] = newest;
    newer[row] = NONE;
    if (newest == NONE) oldest = row;
    else newer[newest] = row;
    newest = row;
  }

  private void unlink(int row) {
    if (newer[row] == NONE) newest = older[row];
    else older[newer[row]] = older[row];
    if (older[row] == NONE) oldest = newer[row];
    else newer[older[row]] = newer[row];
  }
}
