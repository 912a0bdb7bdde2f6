package dev.kvasir.kv;

import dev.kvasir.kv.name.BlockHash;
import java.util.Arrays;

/**
 * Reports changes of the blocks that one watcher is interested in, in order: a block came to a tier
 * or left it, or its first holder took it or its last one released it.
 *
 * <p>A caller that caches answers of {@link KvStore#match} reads here whether they are still valid,
 * in time proportional to the number of changes. Sometimes an unrelated block is reported. New
 * changes overwrite the oldest ones: a watcher that reads too late must query the store again.
 */
public final class KvWatch {
  private static final int CAPACITY = 1 << 12;

  /** One bit for some of the keys each: few enough to stay close to the processor. */
  private static final int FILTER_BITS = 15;

  /** Names may differ in a few bits only; this spreads them over the upper ones. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private final long[] filter = new long[1 << (FILTER_BITS - 6)];
  private final long[] keys = new long[CAPACITY];
  private long count;

  KvWatch() {}

  /** The word that stands for the name here; different names seldom have the same. */
  public static long key(BlockHash name) {
    return name.spread() * SPREAD;
  }

  /** Watches the block with that key from now on. */
  public void add(long key) {
    filter[word(key)] |= 1L << bit(key);
  }

  /** Stops watching all blocks. */
  public void clear() {
    Arrays.fill(filter, 0);
  }

  /** Returns the number of changes reported so far; the next one has this number. */
  public long count() {
    return count;
  }

  /** Returns whether all changes from that number on can still be read. */
  public boolean isKept(long from) {
    return count - from <= CAPACITY;
  }

  /** The key of the block that the change of that number was about. */
  public long keyAt(long number) {
    return keys[(int) number & (CAPACITY - 1)];
  }

  void changed(BlockHash name) {
    long key = key(name);
    if (((filter[word(key)] >>> bit(key)) & 1) == 0) return;
    keys[(int) count++ & (CAPACITY - 1)] = key;
  }

  private static int word(long key) {
    return (int) (key >>> (Long.SIZE - FILTER_BITS + 6));
  }

  /** The bits behind those that choose the word; a shift takes the last six of these. */
  private static int bit(long key) {
    return (int) (key >>> (Long.SIZE - FILTER_BITS));
  }
}
