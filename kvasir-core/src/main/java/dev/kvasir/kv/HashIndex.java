package dev.kvasir.kv;

import java.util.Arrays;

/**
 * Gives each block hash a small dense number, its entry, with a few numbers kept beside it.
 *
 * <p>Open addressing with linear probing. A cell holds part of the hash and the entry; the row of
 * the entry, 64 bytes, holds the whole hash and its values. So a look-up touches two places and
 * never trusts a part of the key. Removal shifts the cells behind it back, which leaves no
 * tombstones; the part of the hash in a cell tells where its home is.
 */
final class HashIndex {
  static final int ABSENT = -1;

  /** How many values an entry has; each is {@link #ABSENT} until it is set. */
  static final int VALUES = 4;

  private static final int ROW_SHIFT = 3;

  /** Where in a row the values begin, two to a word, and where the number of its cell is. */
  private static final int ROW_VALUES = 4;

  private static final int ROW_CELL = 6;
  private static final long NO_VALUES = -1;
  private static final long LOWER = 0xffffffffL;
  private static final int CELLS_MIN = 16;
  private static final long EMPTY = 0;

  /** Upper half: the mark of the hash. Lower half: entry + 1, so that an empty cell is 0. */
  private long[] cells = new long[CELLS_MIN];

  private long[] rows = new long[0];

  /** Entries that are not in use, the next one to hand out on top. */
  private int[] unused = new int[0];

  private int unusedCount;
  private int capacity;

  /** Makes room for that many entries more. */
  void reserve(int more) {
    int grown = Math.addExact(capacity, more);
    rows = Arrays.copyOf(rows, Math.multiplyExact(grown, 1 << ROW_SHIFT));
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
    int mark = mark(hash.spread());
    for (int at = mark & mask; ; at = at + 1 & mask) {
      long cell = cells[at];
      if (cell == EMPTY) return ABSENT;
      if (markOf(cell) == mark && holds(entryOf(cell), hash)) return entryOf(cell);
    }
  }

  /** The entry of the hash; a new one, without values, where there was none. */
  int enter(BlockHash hash) {
    var cells = this.cells;
    int mask = cells.length - 1;
    int mark = mark(hash.spread());
    int at = mark & mask;
    for (long cell = cells[at]; cell != EMPTY; cell = cells[at]) {
      if (markOf(cell) == mark && holds(entryOf(cell), hash)) return entryOf(cell);
      at = at + 1 & mask;
    }
    int entry = open(hash);
    fill(at, (long) mark << Integer.SIZE | entry + 1);
    return entry;
  }

  /** Takes the entry out; its number is free for another hash. */
  void remove(int entry) {
    var cells = this.cells;
    int mask = cells.length - 1;
    int hole = (int) rows[(entry << ROW_SHIFT) + ROW_CELL];
    for (int at = hole + 1 & mask; cells[at] != EMPTY; at = at + 1 & mask) {
      int home = markOf(cells[at]) & mask;
      // A cell may move back to the hole unless its home lies behind the hole.
      if ((at - home & mask) >= (at - hole & mask)) {
        fill(hole, cells[at]);
        hole = at;
      }
    }
    cells[hole] = EMPTY;
    unused[unusedCount++] = entry;
  }

  int value(int entry, int number) {
    return (int) (rows[word(entry, number)] >>> shift(number));
  }

  void setValue(int entry, int number, int value) {
    int word = word(entry, number);
    int shift = shift(number);
    rows[word] = (rows[word] & ~(LOWER << shift)) | ((value & LOWER) << shift);
  }

  /** Whether no value of the entry is set. */
  boolean isBare(int entry) {
    int row = entry << ROW_SHIFT;
    return rows[row + ROW_VALUES] == NO_VALUES && rows[row + ROW_VALUES + 1] == NO_VALUES;
  }

  private boolean holds(int entry, BlockHash hash) {
    var rows = this.rows;
    int row = entry << ROW_SHIFT;
    // One branch for all four words: a mark that fits nearly always means a hash that does.
    long difference =
        (rows[row] ^ hash.first())
            | (rows[row + 1] ^ hash.second())
            | (rows[row + 2] ^ hash.third())
            | (rows[row + 3] ^ hash.fourth());
    return difference == 0;
  }

  private int open(BlockHash hash) {
    if (unusedCount == 0) {
      throw new IllegalStateException("index full with " + capacity + " entries, adding " + hash);
    }
    int entry = unused[--unusedCount];
    int row = entry << ROW_SHIFT;
    rows[row] = hash.first();
    rows[row + 1] = hash.second();
    rows[row + 2] = hash.third();
    rows[row + 3] = hash.fourth();
    rows[row + ROW_VALUES] = NO_VALUES;
    rows[row + ROW_VALUES + 1] = NO_VALUES;
    return entry;
  }

  private void fill(int at, long cell) {
    cells[at] = cell;
    rows[(entryOf(cell) << ROW_SHIFT) + ROW_CELL] = at;
  }

  private void rehash() {
    var old = cells;
    // At most a quarter full: the first cell looked at is nearly always the right one.
    long wanted = Math.max(CELLS_MIN, 4L * capacity);
    cells = new long[Math.toIntExact(Long.highestOneBit(wanted - 1) << 1)];
    int mask = cells.length - 1;
    for (long cell : old) {
      if (cell == EMPTY) continue;
      int at = markOf(cell) & mask;
      while (cells[at] != EMPTY) at = at + 1 & mask;
      fill(at, cell);
    }
  }

  private static int word(int entry, int number) {
    return (entry << ROW_SHIFT) + ROW_VALUES + (number >>> 1);
  }

  private static int shift(int number) {
    return (number & 1) * Integer.SIZE;
  }

  private static int markOf(long cell) {
    return (int) (cell >>> Integer.SIZE);
  }

  private static int entryOf(long cell) {
    return (int) cell - 1;
  }

  /** The bits that lead to the home, and more that tell hashes of one home apart. */
  private static int mark(long spread) {
    return (int) (spread ^ spread >>> Integer.SIZE);
  }
}
