package dev.kvasir.kv;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import java.util.Arrays;

/**
 * Versions of KV memory, as far as one watcher is interested in it: each change of a block that it
 * watches makes a new version. A block changes when it comes to a tier or leaves it, and when its
 * first holder takes it or its last one releases it.
 *
 * <p>A caller keeps an answer of {@link KvStore#match} with the version at which it was made, and
 * looks here at what changed since. Sometimes more is reported than has changed, never less.
 */
public final class KvChanges {
  /** Number of changes that can be looked at again. */
  private static final int LOGGED = 1 << 10;

  private static final int CELLS_MIN = 64;

  /** Names may differ in a few bits only; this spreads them over the upper ones. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  /** Lower bits of a cell: the place of the block in its sequence plus one. The others name it. */
  private static final long PLACE = (1 << 24) - 1;

  private static final long ANY_PLACE = PLACE;
  private static final long EMPTY = 0;

  private final long[] log = new long[LOGGED];

  /** The watched blocks, by their names. */
  private long[] cells = new long[CELLS_MIN];

  private int watched;
  private long version;

  /** Version at which nothing was watched; of what was known before, no change is reported. */
  private long cleared;

  /** Watches the first blocks of a sequence from now on. */
  public void watch(BlockNames names, int blocks) {
    for (int place = 0; place < blocks; place++) {
      if (watched >= cells.length / 2) grow();
      add(key(names.name(place)) | Math.min(place + 1, ANY_PLACE));
    }
  }

  /** Stops watching all blocks; what was known of them counts as changed. */
  public void clear() {
    Arrays.fill(cells, EMPTY);
    watched = 0;
    cleared = ++version;
  }

  /** Returns the number of watched blocks. */
  public int watched() {
    return watched;
  }

  /** Returns the current version, a number that only grows. */
  public long version() {
    return version;
  }

  /** Returns whether what changed since that version can still be looked at. */
  public boolean isLogged(long since) {
    return since >= cleared && version - since <= LOGGED;
  }

  /**
   * Returns whether any of the first blocks of a sequence, all of them watched, changed since that
   * version.
   */
  public boolean isChanged(long since, BlockNames names, int blocks) {
    if (!isLogged(since)) return true;
    for (long number = since; number < version; number++) {
      long cell = log[(int) number & (LOGGED - 1)];
      long place = (cell & PLACE) - 1;
      if (place + 1 == ANY_PLACE) return true;
      if (place < blocks && isSame(cell, key(names.name((int) place)))) return true;
    }
    return false;
  }

  void changed(BlockHash name) {
    long cell = cells[find(key(name))];
    if (cell != EMPTY) log[(int) version++ & (LOGGED - 1)] = cell;
  }

  /**
   * A block has one place in all sequences; if names are so alike that it seems to have two, any.
   */
  private void add(long cell) {
    int at = find(cell);
    if (cells[at] == EMPTY) watched++;
    cells[at] = cells[at] == EMPTY || cells[at] == cell ? cell : cell | ANY_PLACE;
  }

  private void grow() {
    var old = cells;
    cells = new long[2 * old.length];
    for (long cell : old) {
      if (cell != EMPTY) cells[find(cell)] = cell;
    }
  }

  /** Returns the index of the cell with that name, or of the empty one where it belongs. */
  private int find(long cell) {
    int at = (int) (cell >>> Long.numberOfLeadingZeros(cells.length - 1L));
    while (cells[at] != EMPTY && !isSame(cells[at], cell)) at = (at + 1) & (cells.length - 1);
    return at;
  }

  private static boolean isSame(long cell, long other) {
    return (cell & ~PLACE) == (other & ~PLACE);
  }

  private static long key(BlockHash name) {
    return name.spread() * SPREAD & ~PLACE;
  }
}
