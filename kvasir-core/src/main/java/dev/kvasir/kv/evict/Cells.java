package dev.kvasir.kv.evict;

import java.util.Arrays;

/**
 * The segments that have something to evict, in cells by class and age, and which of them is first.
 *
 * <p>Each class knows which of its ages are occupied and which of those is worth least. A tree over
 * the classes finds the least of all: each of its nodes names the lower one of two.
 */
final class Cells {
  /** By which order segments go. */
  enum Order {
    /** What the tables hold to be worth least goes first. */
    LEARNT,
    /** The oldest goes first. */
    OLDEST
  }

  private static final int NONE = Segments.NONE;
  private static final int AGES = ReturnTables.AGES;
  private static final int CLASSES_FIRST = 64;
  private static final double NEVER = Double.POSITIVE_INFINITY;

  private final Segments segments;
  private final ReturnTables tables;
  private Order order = Order.LEARNT;

  /** For each class its occupied ages, a bit each; then the one among them that goes first. */
  private long[] occupied = {};

  private byte[] firstAges = {};
  private double[] keys = {};

  /** For each node of the tree the class that wins there, the topmost at 1. */
  private int[] winners = {};

  Cells(Segments segments, ReturnTables tables) {
    this.segments = segments;
    this.tables = tables;
    grow();
  }

  /** Makes room for the classes that there are now. */
  void grow() {
    int before = occupied.length;
    if (tables.classes() <= before) return;
    int to = Math.max(CLASSES_FIRST, Integer.highestOneBit(tables.classes() - 1) << 1);
    occupied = Arrays.copyOf(occupied, to);
    firstAges = Arrays.copyOf(firstAges, to);
    keys = Arrays.copyOf(keys, to);
    Arrays.fill(keys, before, to, NEVER);
    segments.growCells(to * AGES);
    winners = new int[to];
    rebuild();
  }

  private void rebuild() {
    for (int node = winners.length - 1; node >= 1; node--) winners[node] = winner(node);
  }

  /** How many bytes its arrays take. */
  long bytes() {
    return (Long.BYTES + Byte.BYTES + Double.BYTES + Integer.BYTES) * (long) occupied.length;
  }

  Order order() {
    return order;
  }

  void order(Order wanted) {
    order = wanted;
    for (int of = 0; of < tables.classes(); of++) keys[of] = key(of);
    rebuild();
  }

  /** The segment that goes first, or {@link Segments#NONE}. */
  int first() {
    int of = winners[1];
    return keys[of] == NEVER ? NONE : segments.firstOfCell(of * AGES + firstAges[of]);
  }

  /** The segment has something to evict now, and goes after the others of its cell. */
  void add(int segment) {
    int of = segments.classOf(segment);
    int age = segments.age(segment);
    segments.addToCell(of * AGES + age, segment);
    occupy(of, age);
  }

  /** The segment has something to evict now, and goes before the others of its cell. */
  void addFirst(int segment) {
    int of = segments.classOf(segment);
    int age = segments.age(segment);
    segments.addFirstToCell(of * AGES + age, segment);
    occupy(of, age);
  }

  /** The segment has nothing to evict any more, or is about to change its cell. */
  void remove(int segment) {
    int of = segments.classOf(segment);
    int age = segments.age(segment);
    segments.removeFromCell(segment);
    boolean empty = segments.firstOfCell(of * AGES + age) == NONE;
    if (empty) occupied[of] &= ~(1L << age);
    if (empty || order == Order.OLDEST) price(of);
  }

  private void occupy(int of, int age) {
    long bit = 1L << age;
    boolean known = (occupied[of] & bit) != 0;
    occupied[of] |= bit;
    if (!known || order == Order.OLDEST) price(of);
  }

  /** Finds the first age of the class again, since its ages or their indices have changed. */
  void price(int of) {
    set(of, key(of));
  }

  private double key(int of) {
    long ages = occupied[of];
    if (ages == 0) return NEVER;
    return order == Order.OLDEST ? keyByBirth(of, ages) : keyByIndex(of, ages);
  }

  private double keyByBirth(int of, long ages) {
    int age = Long.SIZE - 1 - Long.numberOfLeadingZeros(ages);
    firstAges[of] = (byte) age;
    return segments.born(segments.firstOfCell(of * AGES + age));
  }

  private double keyByIndex(int of, long ages) {
    double best = NEVER;
    for (long left = ages; left != 0; ) {
      int age = Long.SIZE - 1 - Long.numberOfLeadingZeros(left);
      left ^= 1L << age;
      double index = tables.index(of, age);
      if (index < best) {
        best = index;
        firstAges[of] = (byte) age;
      }
    }
    return best;
  }

  private void set(int of, double key) {
    if (keys[of] == key) return;
    keys[of] = key;
    for (int node = (of + keys.length) >> 1; node >= 1; node >>= 1) winners[node] = winner(node);
  }

  /** The class with the lower key below the node, the first of equals. */
  private int winner(int node) {
    int left = 2 * node;
    boolean atLeaves = left >= winners.length;
    int one = atLeaves ? left - winners.length : winners[left];
    int other = atLeaves ? one + 1 : winners[left + 1];
    return keys[other] < keys[one] ? other : one;
  }
}
