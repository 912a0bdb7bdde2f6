package dev.kvasir.router;

import dev.kvasir.kv.BlockHash;

/**
 * A fixed number of rows, each for one block hash with some words beside it.
 *
 * <p>Open addressing with linear probing over cells that hold part of the hash and the number of
 * the row; the row has the whole hash. With four words beside it a row fills one line of the
 * processor's cache, so that a look-up touches two.
 */
final class BlockTable {
  static final int ABSENT = -1;

  /** How many words of a row are its hash. */
  static final int HASH_WORDS = 4;

  private static final long EMPTY = 0;
  private static final int CELLS_PER_ROW = 4;

  /** The rows one after the other; those who own the table may change all but the hashes. */
  final long[] rows;

  final int stride;

  /** Upper half: part of the hash. Lower half: row + 1, so that an empty cell is 0. */
  private final long[] cells;

  private final int[] cellOfRow;
  private final int[] unused;
  private int unusedCount;

  BlockTable(int capacity, int words) {
    if (capacity < 1) throw new IllegalArgumentException("a table of " + capacity + " rows");
    this.stride = HASH_WORDS + words;
    this.rows = new long[Math.multiplyExact(capacity, stride)];
    long wanted = Math.max(CELLS_PER_ROW, (long) CELLS_PER_ROW * capacity / 2);
    this.cells = new long[Math.toIntExact(Long.highestOneBit(wanted - 1) << 1)];
    this.cellOfRow = new int[capacity];
    this.unused = new int[capacity];
    for (int i = 0; i < capacity; i++) unused[i] = capacity - 1 - i;
    this.unusedCount = capacity;
  }

  int capacity() {
    return unused.length;
  }

  int size() {
    return unused.length - unusedCount;
  }

  boolean isFull() {
    return unusedCount == 0;
  }

  /** Whether a hash has the row. */
  boolean isUsed(int row) {
    long cell = cells[cellOfRow[row]];
    return cell != EMPTY && rowOf(cell) == row;
  }

  /** The row of the hash, or {@link #ABSENT}. */
  int find(BlockHash hash) {
    var cells = this.cells;
    int mask = cells.length - 1;
    int mark = hash.hashCode();
    for (int at = mark & mask; ; at = at + 1 & mask) {
      long cell = cells[at];
      if (cell == EMPTY) return ABSENT;
      if (markOf(cell) == mark && holds(rowOf(cell), hash)) return rowOf(cell);
    }
  }

  /** A row for a hash that has none; its words are zero. */
  int add(BlockHash hash) {
    if (unusedCount == 0) {
      throw new IllegalStateException("table full with " + capacity() + " rows, adding " + hash);
    }
    int row = unused[--unusedCount];
    int at = row * stride;
    rows[at] = hash.first();
    rows[at + 1] = hash.second();
    rows[at + 2] = hash.third();
    rows[at + 3] = hash.fourth();
    for (int word = HASH_WORDS; word < stride; word++) rows[at + word] = 0;
    int mark = hash.hashCode();
    int mask = cells.length - 1;
    int cell = mark & mask;
    while (cells[cell] != EMPTY) cell = cell + 1 & mask;
    fill(cell, (long) mark << Integer.SIZE | row + 1);
    return row;
  }

  /** Gives the row up; cells behind its own move back, which leaves no gap in their probes. */
  void remove(int row) {
    int mask = cells.length - 1;
    int hole = cellOfRow[row];
    for (int at = hole + 1 & mask; cells[at] != EMPTY; at = at + 1 & mask) {
      int home = markOf(cells[at]) & mask;
      if ((at - home & mask) >= (at - hole & mask)) {
        fill(hole, cells[at]);
        hole = at;
      }
    }
    cells[hole] = EMPTY;
    unused[unusedCount++] = row;
  }

  BlockHash hash(int row) {
    int at = row * stride;
    return new BlockHash(rows[at], rows[at + 1], rows[at + 2], rows[at + 3]);
  }

  private boolean holds(int row, BlockHash hash) {
    var rows = this.rows;
    int at = row * stride;
    long difference =
        (rows[at] ^ hash.first())
            | (rows[at + 1] ^ hash.second())
            | (rows[at + 2] ^ hash.third())
            | (rows[at + 3] ^ hash.fourth());
    return difference == 0;
  }

  private void fill(int at, long cell) {
    cells[at] = cell;
    cellOfRow[rowOf(cell)] = at;
  }

  private static int markOf(long cell) {
    return (int) (cell >>> Integer.SIZE);
  }

  private static int rowOf(long cell) {
    return (int) cell - 1;
  }
}
