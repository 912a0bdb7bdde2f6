package dev.kvasir.kv.evict;

/**
 * Remembers about as many names as there are slots, the latest ones.
 *
 * <p>Each name has one place, where a newer one may displace it, and is forgotten after as many
 * later names as there are slots. The half of a name that is kept, and when, are one number. A
 * wrong answer costs one choice of queue, nothing else.
 */
final class GhostNames {
  private static final long UPPER = -1L << Integer.SIZE;

  private final int namesMax;
  private final long[] places;

  /** How many names were added, and as many more, so that a place never taken is out of date. */
  private int count;

  GhostNames(int namesMax) {
    int length = Math.max(2, Integer.highestOneBit(Math.multiplyExact(namesMax, 2) - 1) << 1);
    this.namesMax = namesMax;
    this.places = new long[length];
    this.count = namesMax;
  }

  void add(long name) {
    count++;
    places[place(name)] = (name & UPPER) | Integer.toUnsignedLong(count);
  }

  boolean has(long name) {
    long kept = places[place(name)];
    return ((kept ^ name) & UPPER) == 0 && count - (int) kept < namesMax;
  }

  private int place(long name) {
    return (int) (name >>> 16) & places.length - 1;
  }
}
