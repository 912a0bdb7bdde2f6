package dev.kvasir.kv;

import java.util.Arrays;

/**
 * Gives each block hash a small dense number, its entry, and finds it again.
 *
 * <p>Open addressing with linear probing: a cell holds half of the hash and the entry, the entry
 * holds the whole hash, so that a look-up touches two cache lines and never trusts a part of the
 * key. Removal shifts the cells behind it back, which leaves no tombstones.
 */
final class HashIndex {
  static final int ABSENT = -1;

  private static final int WORDS = 4;
  private static final int WORDS_SHIFT = 2;
  private static final int ENTRY_BITS = 32;
  private static final int CELLS_MIN = 16;
  private static final long EMPTY = 0;

  /** Upper half: part of the hash. Lower half: entry + 1, so that an empty cell is 0. */
  private long[] cells = new long[CELLS_MIN];

  private long[] words = new long[0];

  /** Entries that are not in use, the next one to hand out on top. */
  private int[] unused = new int[0];

  private int unusedCount;
  private int capacity;

  /** Makes room for that many entries more. */
  void reserve(int more) {
    int grown = Math.addExact(capacity, more);
    words = Arrays.copyOf(words, Math.multiplyExact(grown, WORDS));
    var stack = new int[grown];
    for (int i = 0; i < more; i++) stack[i] = grown - 1 - i;
    System.arraycopy(unused, 0, stack, more, unusedCount);
    unused = stack;
    unusedCount += more;
    capacity = grown;
    rehash();
  }

  int size() {
    return capacity - unusedCount;
  }

  int capacity() {
    return capacity;
  }

  /** The entry of the hash, or {@link #ABSENT}. */
  int find(BlockHash hash) {
    var cells = this.cells;
    int mask = cells.length - 1;
    long spread = hash.spread();
    int tag = tag(spread);
    for (int at = (int) spread & mask; ; at = (at + 1) & mask) {
      long cell = cells[at];
      if (cell == EMPTY) return ABSENT;
      if ((int) (cell >>> ENTRY_BITS) == tag) {
        int entry = (int) cell - 1;
        if (holds(entry, hash)) return entry;
      }
    }
  }

  /** Gives the hash an entry; it must not have one. */
  int add(BlockHash hash) {
    if (unusedCount == 0) {
      throw new IllegalStateException("index full with " + capacity + " entries, adding " + hash);
    }
    int entry = unused[--unusedCount];
    int base = entry << WORDS_SHIFT;
    words[base] = hash.first();
    words[base + 1] = hash.second();
    words[base + 2] = hash.third();
    words[base + 3] = hash.fourth();
    place(hash.spread(), entry);
    return entry;
  }

  /** Takes the entry out; its number is free for another hash. */
  void remove(int entry) {
    int mask = cells.length - 1;
    int hole = cell(entry);
    for (int at = (hole + 1) & mask; cells[at] != EMPTY; at = (at + 1) & mask) {
      int home = (int) spread((int) cells[at] - 1) & mask;
      // A cell may move back to the hole unless its home lies behind the hole.
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        cells[hole] = cells[at];
        hole = at;
      }
    }
    cells[hole] = EMPTY;
    unused[unusedCount++] = entry;
  }

  private boolean holds(int entry, BlockHash hash) {
    var words = this.words;
    int base = entry << WORDS_SHIFT;
    return words[base] == hash.first()
        && words[base + 1] == hash.second()
        && words[base + 2] == hash.third()
        && words[base + 3] == hash.fourth();
  }

  private int cell(int entry) {
    int mask = cells.length - 1;
    int at = (int) spread(entry) & mask;
    while ((int) cells[at] != entry + 1) at = (at + 1) & mask;
    return at;
  }

  private void place(long spread, int entry) {
    int mask = cells.length - 1;
    int at = (int) spread & mask;
    while (cells[at] != EMPTY) at = (at + 1) & mask;
    cells[at] = ((long) tag(spread) << ENTRY_BITS) | (entry + 1);
  }

  private void rehash() {
    var old = cells;
    // At most half full, so that a probe is short.
    long wanted = Math.max(CELLS_MIN, 2L * capacity);
    cells = new long[Math.toIntExact(Long.highestOneBit(wanted - 1) << 1)];
    for (long cell : old) {
      if (cell != EMPTY) place(spread((int) cell - 1), (int) cell - 1);
    }
  }

  private long spread(int entry) {
    int base = entry << WORDS_SHIFT;
    return BlockHash.spread(words[base], words[base + 1], words[base + 2], words[base + 3]);
  }

  private static int tag(long spread) {
    return (int) (spread >>> ENTRY_BITS);
  }
}
