package dev.kvasir.kv.evict.learned;

import java.util.Arrays;

/**
 * The segments that have something to evict, in cells by class and age, and which of them is first.
 *
 * <p>Each class knows which of its ages are occupied and which of those is worth least. A tree over
 * the classes finds the least of all: each of its nodes names the lower one of two. Classes of a
 * request's own blocks that are worth about the same count as equal, and of equals the oldest goes
 * first: what chance alone tells apart goes in the order of LRU.
 */
final class Cells {
  /** By which order segments go. */
  enum Order {
    /** Order of worth: what the tables value least goes first. */
    LEARNT,
    /** The oldest goes first. */
    OLDEST
  }

  private static final int NONE = Segments.NONE;
  private static final int AGES = ReturnTables.AGES;
  private static final int CLASSES_FIRST = 64;
  private static final int NEVER = Integer.MAX_VALUE;

  /** Largest number of segments that grow older with one request. */
  static final int AGED_MAX = 256;

  /** The bits of an index that do not count, so that what differs by 6 % at most is equal. */
  private static final int BLURRED_BITS = 19;

  private final Segments segments;
  private final ReturnTables tables;
  private Order order = Order.LEARNT;

  /** For each class its occupied ages, a bit each; then the one among them that goes first. */
  private long[] occupied = {};

  private byte[] firstAges = {};
  private int[] keys = {};

  /** For each class the birth of the segment that goes first. */
  private long[] births = {};

  /** For each node of the tree the class that wins there, the topmost at 1. */
  private int[] winners = {};

  /** No segment reaches its next age before. */
  private long agesAt;

  private int agedMost;

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
    births = Arrays.copyOf(births, to);
    Arrays.fill(keys, before, to, NEVER);
    segments.growCells(to * AGES);
    winners = new int[to];
    rebuild();
  }

  /** A segment is opened now, and will grow older. */
  void opened(long now) {
    agesAt = Math.min(agesAt, now + tables.edge(1));
  }

  /** Returns the largest number of segments that grew older at once. */
  int agedMost() {
    return agedMost;
  }

  /** Segments that are old enough reach their next age, up to so many at once. */
  void growOld(long now) {
    if (now < agesAt) return;
    int steps = 0;
    agesAt = Long.MAX_VALUE;
    for (int age = 1; age < ReturnTables.AGES; age++) {
      int segment = segments.nextToReach(age);
      while (segment != NONE && segments.age(segment) == age - 1) {
        long reachedAt = segments.born(segment) + tables.edge(age);
        if (reachedAt > now || steps == AGED_MAX) {
          agesAt = Math.min(agesAt, reachedAt);
          break;
        }
        steps++;
        growOlder(segment, age);
        segment = segments.nextToReach(age);
      }
    }
    agedMost = Math.max(agedMost, steps);
  }

  private void growOlder(int segment, int age) {
    boolean inCell = segments.isInCell(segment);
    if (inCell) remove(segment);
    segments.reach(age);
    if (segments.kind(segment) != Segments.UNCLAIMED) {
      float share = (float) segments.left(segment) / segments.size(segment);
      tables.reached(segments.classOf(segment), age, share);
    }
    if (inCell) add(segment);
  }

  /** The segment, of which so many blocks are left, belongs to that class now. */
  void reclassify(int segment, int of, int left) {
    grow();
    boolean inCell = segments.isInCell(segment);
    if (inCell) remove(segment);
    segments.classOf(segment, of);
    tables.reached(of, segments.age(segment), (float) left / segments.size(segment));
    if (inCell) add(segment);
  }

  private void rebuild() {
    for (int node = winners.length - 1; node >= 1; node--) winners[node] = winner(node);
  }

  /** Returns the size of its arrays in bytes. */
  long bytes() {
    return (2 * Long.BYTES + Byte.BYTES + 2 * Integer.BYTES) * (long) occupied.length;
  }

  Order order() {
    return order;
  }

  void order(Order wanted) {
    order = wanted;
    for (int of = 0; of < tables.classes(); of++) {
      keys[of] = key(of);
      births[of] = birth(of);
    }
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
    if (empty) price(of);
    else if (age == firstAges[of]) set(of, keys[of]);
  }

  private void occupy(int of, int age) {
    long bit = 1L << age;
    boolean known = (occupied[of] & bit) != 0;
    occupied[of] |= bit;
    if (!known) price(of);
    else if (age == firstAges[of]) set(of, keys[of]);
  }

  /** Finds the first age of the class again, since its ages or their indices have changed. */
  void price(int of) {
    set(of, key(of));
  }

  private int key(int of) {
    long ages = occupied[of];
    if (ages == 0) return NEVER;
    if (order == Order.LEARNT) return keyByIndex(of, ages);
    firstAges[of] = (byte) (Long.SIZE - 1 - Long.numberOfLeadingZeros(ages));
    return 0;
  }

  private int keyByIndex(int of, long ages) {
    int best = NEVER;
    for (long left = ages; left != 0; ) {
      int age = Long.SIZE - 1 - Long.numberOfLeadingZeros(left);
      left ^= 1L << age;
      int key = key(tables, of, age);
      if (key < best) {
        best = key;
        firstAges[of] = (byte) age;
      }
    }
    return best;
  }

  /** Returns the worth of a class of that age, as the tables have it, as a number to compare. */
  static int key(ReturnTables tables, int of, int age) {
    int bits = Float.floatToIntBits(tables.index(of, age));
    return tables.isApart(of) || !tables.areSettled() ? bits : bits & -(1 << BLURRED_BITS);
  }

  private long birth(int of) {
    if (keys[of] == NEVER) return 0;
    return segments.born(segments.firstOfCell(of * AGES + firstAges[of]));
  }

  private void set(int of, int key) {
    boolean isSame = keys[of] == key;
    keys[of] = key;
    long born = birth(of);
    if (isSame && births[of] == born) return;
    births[of] = born;
    for (int node = (of + keys.length) >> 1; node >= 1; node >>= 1) winners[node] = winner(node);
  }

  /** The class with the lower key below the node, of equals the older one or the first. */
  private int winner(int node) {
    int left = 2 * node;
    boolean atLeaves = left >= winners.length;
    int one = atLeaves ? left - winners.length : winners[left];
    int other = atLeaves ? one + 1 : winners[left + 1];
    if (keys[other] != keys[one]) return keys[other] < keys[one] ? other : one;
    boolean byBirth = order == Order.OLDEST || tables.areSettled();
    return byBirth && births[other] < births[one] ? other : one;
  }
}
