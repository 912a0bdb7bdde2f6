package dev.kvasir.kv;

import dev.kvasir.kv.name.BlockHash;
import java.util.Arrays;

/**
 * Gives each block hash a small dense number, its entry, which holds a few numbers.
 *
 * <p>A cell leads to an entry, and the row of the entry, 64 bytes, holds the whole hash, its values
 * and the next entry of the same cell. There are eight cells for each entry at least: most have one
 * entry or none, so that a look-up touches two places and nearly never guesses wrong.
 */
final class HashIndex {
  static final int ABSENT = -1;

  /** Number of values that an entry has; each is {@link #ABSENT} until it is set. */
  static final int VALUES = 6;

  private static final int ROW_SHIFT = 3;

  /**
   * Position of the values in a row, two to a word; then come the next entry and the cell, in one.
   */
  private static final int ROW_VALUES = 4;

  private static final int ROW_LINK = 7;
  private static final long NO_VALUES = -1;
  private static final long LOWER = 0xffffffffL;
  private static final int ENTRIES_LARGE = 1 << 14;
  private static final int CELLS_MIN = 16;
  private static final int CELLS_PER_ENTRY = 8;
  private static final int CELLS_MAX = 1 << 30;

  /**
   * Content of an empty cell or link; an entry is stored as its number plus one, so that none is 0.
   */
  private static final int NOTHING = 0;

  private int[] cells = new int[CELLS_MIN];
  private long[] rows = new long[0];

  /** Entries that are not in use, the next one to hand out on top. */
  private int[] unused = new int[0];

  private int unusedCount;
  private int capacity;

  /** Sum of what was read ahead of time; without it, the compiler would leave out the reads. */
  @SuppressWarnings("UnusedVariable")
  private long read;

  /** Makes room for that many entries more. */
  void reserve(int more) {
    int grown = Math.addExact(capacity, more);
    rows = Arrays.copyOf(rows, Math.multiplyExact(grown, 1 << ROW_SHIFT));
    Arrays.fill(rows, capacity << ROW_SHIFT, rows.length, NO_VALUES);
    var old = cells;
    long wanted = Math.clamp((long) CELLS_PER_ENTRY * grown, CELLS_MIN, CELLS_MAX);
    cells = new int[Math.toIntExact(Long.highestOneBit(wanted - 1) << 1)];
    for (int cell : old) {
      for (int link = cell; link != NOTHING; ) {
        int after = nextOf(linkOf(link - 1));
        chain(link - 1, homeOf(link - 1));
        link = after;
      }
    }
    var stack = new int[grown];
    for (int i = 0; i < more; i++) stack[i] = grown - 1 - i;
    System.arraycopy(unused, 0, stack, more, unusedCount);
    unused = stack;
    unusedCount += more;
    capacity = grown;
  }

  int size() {
    return capacity - unusedCount;
  }

  int capacity() {
    return capacity;
  }

  /** The entry of the hash, or {@link #ABSENT}. */
  int find(BlockHash hash) {
    int link = cells[home(hash)];
    while (link != NOTHING) {
      if (holds(link - 1, hash)) return link - 1;
      link = nextOf(linkOf(link - 1));
    }
    return ABSENT;
  }

  /** Returns whether the index is so large that look-ups wait for memory. */
  boolean isLarge() {
    return capacity >= ENTRIES_LARGE;
  }

  /**
   * Reads where the hash leads, for a look-up that comes soon: a caller that does so for several
   * hashes waits for memory once, and not for each of them in turn.
   */
  void approach(BlockHash hash) {
    int link = cells[home(hash)];
    if (link != NOTHING) read += rows[(link - 1) << ROW_SHIFT];
  }

  /** Reads what taking out the entry will change. */
  void approach(int entry) {
    read += cells[cellOf(linkOf(entry))];
  }

  /**
   * Sets a value of the hash, for which an entry is made where there is none.
   *
   * @return the entry, or, if it has that value already and keeps it, what {@code ~} makes of it
   */
  int enter(BlockHash hash, int number, int value) {
    int home = home(hash);
    for (int link = cells[home]; link != NOTHING; link = nextOf(linkOf(link - 1))) {
      if (holds(link - 1, hash)) return setValue(link - 1, number, value);
    }
    int entry = open(hash);
    rows[word(entry, number)] ^= flips(number, value);
    chain(entry, home);
    return entry;
  }

  /** Takes out the entry, which has lost all values; its number is free for another hash. */
  void remove(int entry) {
    long link = linkOf(entry);
    if (cells[cellOf(link)] == entry + 1) cells[cellOf(link)] = nextOf(link);
    else unchain(entry, link);
    unused[unusedCount++] = entry;
  }

  BlockHash hash(int entry) {
    int row = entry << ROW_SHIFT;
    return new BlockHash(rows[row], rows[row + 1], rows[row + 2], rows[row + 3]);
  }

  int value(int entry, int number) {
    return (int) (rows[word(entry, number)] >>> shift(number));
  }

  private int setValue(int entry, int number, int value) {
    if (value(entry, number) != ABSENT) return ~entry;
    rows[word(entry, number)] ^= flips(number, value);
    return entry;
  }

  /** All bits of an absent value are 1; these bits are flipped to store another value. */
  private static long flips(int number, int value) {
    return (~value & LOWER) << shift(number);
  }

  /** Makes the value {@link #ABSENT}; whether that was the last one of the entry. */
  boolean unsetValue(int entry, int number) {
    var rows = this.rows;
    int word = word(entry, number);
    rows[word] |= LOWER << shift(number);
    int first = (entry << ROW_SHIFT) + ROW_VALUES;
    return (rows[first] & rows[first + 1] & rows[first + 2]) == NO_VALUES;
  }

  /** One branch for all four words: an entry that is met is nearly always the right one. */
  private boolean holds(int entry, BlockHash hash) {
    int row = entry << ROW_SHIFT;
    return (firstHalf(row, hash) | secondHalf(row, hash)) == 0;
  }

  // Halves, since a compiler that takes a rare look-up for too large to inline pays at every one.
  private long firstHalf(int row, BlockHash hash) {
    return (rows[row] ^ hash.first()) | (rows[row + 1] ^ hash.second());
  }

  private long secondHalf(int row, BlockHash hash) {
    return (rows[row + 2] ^ hash.third()) | (rows[row + 3] ^ hash.fourth());
  }

  /** An entry for the hash, without values: they were never set, or are lost. */
  private int open(BlockHash hash) {
    if (unusedCount == 0) {
      throw new IllegalStateException("index full with " + capacity + " entries, adding " + hash);
    }
    var rows = this.rows;
    int entry = unused[--unusedCount];
    int row = entry << ROW_SHIFT;
    rows[row] = hash.first();
    rows[row + 1] = hash.second();
    rows[row + 2] = hash.third();
    rows[row + 3] = hash.fourth();
    return entry;
  }

  /** Puts the entry before those that the cell leads to. */
  private void chain(int entry, int cell) {
    link(entry, cells[cell], cell);
    cells[cell] = entry + 1;
  }

  /** Takes out an entry that another one leads to. */
  private void unchain(int entry, long link) {
    int before = cells[cellOf(link)] - 1;
    while (nextOf(linkOf(before)) != entry + 1) before = nextOf(linkOf(before)) - 1;
    link(before, nextOf(link), cellOf(link));
  }

  private void link(int entry, int next, int cell) {
    rows[(entry << ROW_SHIFT) + ROW_LINK] = (long) next << Integer.SIZE | cell;
  }

  private long linkOf(int entry) {
    return rows[(entry << ROW_SHIFT) + ROW_LINK];
  }

  private static int nextOf(long link) {
    return (int) (link >>> Integer.SIZE);
  }

  private static int cellOf(long link) {
    return (int) link;
  }

  private static int word(int entry, int number) {
    return (entry << ROW_SHIFT) + ROW_VALUES + (number >>> 1);
  }

  private static int shift(int number) {
    return (number & 1) * Integer.SIZE;
  }

  private int homeOf(int entry) {
    int row = entry << ROW_SHIFT;
    return cell(BlockHash.home(rows[row], rows[row + 1], rows[row + 2]));
  }

  private int home(BlockHash hash) {
    return cell(BlockHash.home(hash.first(), hash.second(), hash.third()));
  }

  private int cell(long home) {
    return (int) (home ^ home >>> Integer.SIZE) & cells.length - 1;
  }
}
