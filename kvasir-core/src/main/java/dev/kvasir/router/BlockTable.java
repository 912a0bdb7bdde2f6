package dev.kvasir.router;

import dev.kvasir.kv.BlockHash;

/**
 * A fixed number of rows, each for one block hash with some words beside it.
 *
 * <p>Rows of one bucket are linked, and there are so many buckets that nearly all have one row or
 * none. With four words beside the hash a row fills one line of the processor's cache, so that a
 * look-up touches two.
 */
final class BlockTable {
  static final int ABSENT = -1;

  /** How many words of a row are its hash. */
  static final int HASH_WORDS = 4;

  private static final int BUCKETS_PER_ROW = 4;

  /** The rows one after the other; those who own the table may change all but the hashes. */
  final long[] rows;

  final int stride;

  /** The first row of each bucket, and the one after each row: its number + 1, or 0 for none. */
  private final int[] buckets;

  private final int[] following;

  /** The first of the rows that are not in use, which are linked as well. */
  private int unused;

  private int size;

  BlockTable(int capacity, int words) {
    if (capacity < 1) throw new IllegalArgumentException("a table of " + capacity + " rows");
    this.stride = HASH_WORDS + words;
    this.rows = new long[Math.multiplyExact(capacity, stride)];
    this.buckets = new int[Integer.highestOneBit(Math.multiplyExact(capacity, BUCKETS_PER_ROW))];
    this.following = new int[capacity];
    for (int row = 0; row + 1 < capacity; row++) following[row] = row + 2;
    this.unused = 1;
  }

  int capacity() {
    return following.length;
  }

  int size() {
    return size;
  }

  boolean isFull() {
    return unused == 0;
  }

  /** The row of the hash, or {@link #ABSENT}. */
  int find(BlockHash hash) {
    int link = buckets[bucket(hash)];
    while (link != 0 && !holds(link - 1, hash)) link = following[link - 1];
    return link - 1;
  }

  /** A row for a hash that has none; its words are zero. */
  int add(BlockHash hash) {
    if (unused == 0) {
      throw new IllegalStateException("table full with " + capacity() + " rows, adding " + hash);
    }
    int row = unused - 1;
    unused = following[row];
    size++;
    int at = row * stride;
    rows[at] = hash.first();
    rows[at + 1] = hash.second();
    rows[at + 2] = hash.third();
    rows[at + 3] = hash.fourth();
    for (int word = HASH_WORDS; word < stride; word++) rows[at + word] = 0;
    int bucket = bucket(hash);
    following[row] = buckets[bucket];
    buckets[bucket] = row + 1;
    return row;
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
