package dev.kvasir.router.index;

import dev.kvasir.kv.name.BlockHash;
import java.util.Arrays;

/**
 * A bounded number of rows, each for one block hash and some words.
 *
 * <p>Rows of one bucket are linked, and there are enough buckets that nearly all have one row or
 * none. With up to four words after the hash a row fills one line of the processor's cache, so that
 * a look-up touches two; with five it may touch a third.
 */
final class BlockTable {
  static final int ABSENT = -1;

  /** Number of words of a row that hold its hash. */
  static final int HASH_WORDS = 4;

  private static final int BUCKETS_PER_ROW = 4;
  private static final int ROWS_AT_FIRST = 1_024;

  private final int capacity;

  /** The rows one after the other; the table's owner may change all but the hashes. */
  long[] rows;

  int stride;

  /** The first row of each bucket, and the one after each row: its number + 1, or 0 for none. */
  private int[] buckets;

  private int[] following;

  /** The first of the rows that are not in use, which are linked as well. */
  private int unused;

  private int size;

  /** Sum of what was read ahead of time: without it the compiler would leave out the reads. */
  @SuppressWarnings("UnusedVariable")
  private long read;

  BlockTable(int capacity, int words) {
    require(capacity, words);
    this.capacity = capacity;
    this.stride = HASH_WORDS + words;
    this.rows = new long[0];
    this.following = new int[0];
    this.buckets = new int[1];
  }

  private static void require(int capacity, int words) {
    if (capacity < 1 || (long) capacity * (HASH_WORDS + words) > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a table of " + capacity + " rows with " + words + " words each");
    }
  }

  /** Gives every row that many words, not fewer than before; new ones are zero. */
  void widen(int words) {
    require(capacity, words);
    int wider = HASH_WORDS + words;
    int count = rows.length / stride;
    var moved = new long[count * wider];
    for (int row = 0; row < count; row++) {
      System.arraycopy(rows, row * stride, moved, row * wider, stride);
    }
    rows = moved;
    stride = wider;
  }

  int capacity() {
    return capacity;
  }

  int size() {
    return size;
  }

  boolean isFull() {
    return size == capacity;
  }

  /** The row of the hash, or {@link #ABSENT}. */
  int find(BlockHash hash) {
    int link = buckets[bucket(hash)];
    while (link != 0 && !holds(link - 1, hash)) link = following[link - 1];
    return link - 1;
  }

  /**
   * Reads where the hash leads, for a look-up that comes soon: a caller that does so for several
   * hashes waits for memory once, and not for each of them in turn.
   */
  void approach(BlockHash hash) {
    int link = buckets[bucket(hash)];
    if (link != 0) {
      int at = (link - 1) * stride;
      read += rows[at] + rows[at + stride - 1] + following[link - 1];
    }
  }

  /** Reads what giving up the row will change. */
  void approach(int row) {
    read += buckets[bucket(hash(row))];
  }

  /** A row for a hash that has none; its words are zero. */
  int add(BlockHash hash) {
    if (size == capacity) {
      throw new IllegalStateException("table full with " + capacity + " rows, adding " + hash);
    }
    if (unused == 0) grow();
    int row = unused - 1;
    unused = following[row];
    size++;
    int at = row * stride;
    rows[at] = hash.first();
    rows[at + 1] = hash.second();
    rows[at + 2] = hash.third();
    rows[at + 3] = hash.fourth();
    for (int word = HASH_WORDS; word < stride; word++) rows[at + word] = 0;
    link(row, bucket(hash));
    return row;
  }

  /** All rows are in use: their number doubles, and every entry gets a new bucket. */
  private void grow() {
    int grown = (int) Math.min(capacity, Math.max(ROWS_AT_FIRST, 2L * size));
    rows = Arrays.copyOf(rows, grown * stride);
    following = Arrays.copyOf(following, grown);
    buckets = new int[Integer.highestOneBit(Math.multiplyExact(grown, BUCKETS_PER_ROW))];
    for (int row = 0; row < size; row++) link(row, bucket(hash(row)));
    for (int row = size; row + 1 < grown; row++) following[row] = row + 2;
    unused = size + 1;
  }

  private void link(int row, int bucket) {
    following[row] = buckets[bucket];
    buckets[bucket] = row + 1;
  }

  /** Gives the row up, for another hash. */
  void remove(int row) {
    int bucket = bucket(hash(row));
    if (buckets[bucket] == row + 1) {
      buckets[bucket] = following[row];
    } else {
      int before = buckets[bucket] - 1;
      while (following[before] != row + 1) before = following[before] - 1;
      following[before] = following[row];
    }
    following[row] = unused;
    unused = row + 1;
    size--;
  }

  BlockHash hash(int row) {
    int at = row * stride;
    return new BlockHash(rows[at], rows[at + 1], rows[at + 2], rows[at + 3]);
  }

  private boolean holds(int row, BlockHash hash) {
    int at = row * stride;
    return rows[at] == hash.first()
        && rows[at + 1] == hash.second()
        && rows[at + 2] == hash.third()
        && rows[at + 3] == hash.fourth();
  }

  private int bucket(BlockHash hash) {
    return hash.hashCode() & buckets.length - 1;
  }
}
