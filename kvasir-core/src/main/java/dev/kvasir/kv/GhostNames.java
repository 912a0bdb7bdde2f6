package dev.kvasir.kv;

/**
 * Remembers about as many names as there are slots, the latest ones.
 *
 * <p>Each name has one place, where a newer one may displace it, and is forgotten after as many
 * later names as there are slots. A wrong answer costs one choice of queue, nothing else.
 */
final class GhostNames {
  private final int namesMax;
  private final long[] names;
  private final long[] added;
  private long count;

  GhostNames(int namesMax) {
    int places = Math.max(2, Integer.highestOneBit(Math.multiplyExact(namesMax, 2) - 1) << 1);
    this.namesMax = namesMax;
    this.names = new long[places];
    this.added = new long[places];
  }

  void add(long name) {
    int place = place(name);
    names[place] = name;
    added[place] = ++count;
  }

  boolean has(long name) {
    int place = place(name);
    return names[place] == name && added[place] > 0 && count - added[place] < namesMax;
  }

  private int place(long name) {
    return (int) (name >>> 16) & names.length - 1;
  }
}
