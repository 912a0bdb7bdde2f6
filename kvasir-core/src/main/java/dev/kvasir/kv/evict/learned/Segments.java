package dev.kvasir.kv.evict.learned;

import java.util.Arrays;

/**
 * The segments: blocks of one request that live and die together, with what is known of them.
 *
 * <p>A segment counts its blocks that are here (residents) and those that are remembered (ghosts).
 * It is on at most one list at a time:
 *
 * <pre>
 *   free --open--> (none) <--> a cell: some of its blocks may be evicted
 *     ^              |
 *     |              v
 *     '--forget--- ghosts: no block is here any more
 * </pre>
 *
 * All segments in use also stand in the order of their birth, in which they grow old.
 */
final class Segments {
  static final int NONE = -1;

  /** Kinds of blocks that a segment may hold. */
  static final int OWN = 0;

  static final int SHARED = 1;
  static final int TAIL = 2;
  static final int UNCLAIMED = 3;

  private static final int ROW = 14;

  private static final int CLASS = 0;
  private static final int STATE = 1;
  private static final int LAST = 2;
  private static final int SIZE = 3;
  private static final int RESIDENT = 4;
  private static final int GHOSTS = 5;
  private static final int OLDER = 6;
  private static final int YOUNGER = 7;
  private static final int BEFORE = 8;
  private static final int AFTER = 9;
  private static final int FIRST_SLOT = 10;
  private static final int LAST_SLOT = 11;
  private static final int BORN = 12;

  /** Above the class: what its caller said. */
  private static final int HINT_SHIFT = 16;

  private static final int CLASS_BITS = (1 << HINT_SHIFT) - 1;

  /** Parts of the state: the age, the kind, the turn, a mark, and on which list it is. */
  private static final int AGE_BITS = 6;

  private static final int KIND_SHIFT = AGE_BITS;
  private static final int KIND_BITS = 2;
  private static final int TURN_SHIFT = KIND_SHIFT + KIND_BITS;
  private static final int TURN_BITS = 6;
  private static final int TURN_MAX = (1 << TURN_BITS) - 1;
  private static final int SUPERSEDED = 1 << (TURN_SHIFT + TURN_BITS);

  private static final int LIST_SHIFT = TURN_SHIFT + TURN_BITS + 1;
  private static final int LIST_BITS = 3 << LIST_SHIFT;

  /** The lists, of which those of the cells begin with the last; it is none of them, or one. */
  private static final int FREE = 0;

  private static final int GHOST_LIST = 1;
  private static final int CELLS = 2;
  private static final int NO_LIST = 3;

  private final int[] rows;

  /**
   * Number of times that each segment was forgotten, apart from the rows because callers ask for
   * many at once. The first element is that of no segment; no generation equals it.
   */
  private final short[] generations;

  private int[] firsts = new int[CELLS];
  private int[] lasts = new int[CELLS];
  private final int ghostsMax;
  private long ghosts;
  private int used;
  private int youngest = NONE;

  /** LRU would have the blocks of segments that were born later, and some of those born then. */
  private long lruBorn = Long.MIN_VALUE;

  /** The oldest segment that was born later, and how many blocks these segments have. */
  private int oldestOfLru = NONE;

  private long blocksOfLru;

  /** For each age the oldest segment that has not reached it. */
  private final int[] nextToReach = new int[ReturnTables.AGES];

  /** Kept though nothing belongs to it. */
  private int kept = NONE;

  Segments(int segments, int ghostsMax) {
    this.ghostsMax = ghostsMax;
    this.rows = new int[Math.multiplyExact(segments, ROW)];
    this.generations = new short[segments + 1];
    generations[0] = NONE;
    Arrays.fill(firsts, NONE);
    Arrays.fill(lasts, NONE);
    Arrays.fill(nextToReach, NONE);
    for (int segment = 0; segment < segments; segment++) {
      append(FREE, segment);
      rows[at(segment, FIRST_SLOT)] = NONE;
      rows[at(segment, LAST_SLOT)] = NONE;
    }
  }

  /** Returns the number of segments in use. */
  int used() {
    return used;
  }

  /** Returns the number of blocks that are remembered and that are not here. */
  long ghosts() {
    return ghosts;
  }

  /** Takes a segment into use, as the youngest; where none is free, one of ghosts is forgotten. */
  int open(int kind, int of, int turn, long born) {
    if (firsts[FREE] == NONE) forget(firsts[GHOST_LIST]);
    int segment = firsts[FREE];
    unlink(segment);
    used++;
    int row = at(segment, 0);
    rows[row + CLASS] = of;
    rows[row + STATE] =
        NO_LIST << LIST_SHIFT | Math.min(turn, TURN_MAX) << TURN_SHIFT | kind << KIND_SHIFT;
    rows[row + LAST] = NONE;
    rows[row + SIZE] = 0;
    rows[row + BORN] = (int) born;
    rows[row + BORN + 1] = (int) (born >>> Integer.SIZE);
    rows[row + OLDER] = youngest;
    rows[row + YOUNGER] = NONE;
    if (youngest != NONE) rows[at(youngest, YOUNGER)] = segment;
    youngest = segment;
    if (oldestOfLru == NONE) oldestOfLru = segment;
    // A segment that reached an age reached all lower ones: where one is awaited, all above are.
    for (int age = 1; age < ReturnTables.AGES && nextToReach[age] == NONE; age++) {
      nextToReach[age] = segment;
    }
    return segment;
  }

  /** Keeps the segment though nothing belongs to it, in place of the one kept so far. */
  void keep(int segment) {
    int before = kept;
    kept = segment;
    if (before != NONE && before != segment) settle(before);
  }

  int classOf(int segment) {
    return rows[at(segment, CLASS)] & CLASS_BITS;
  }

  void classOf(int segment, int of) {
    int row = at(segment, CLASS);
    rows[row] = (rows[row] & ~CLASS_BITS) | of;
  }

  /** A request went on from the middle of the segment. */
  void supersede(int segment) {
    rows[at(segment, STATE)] |= SUPERSEDED;
  }

  int age(int segment) {
    return rows[at(segment, STATE)] & (1 << AGE_BITS) - 1;
  }

  int kind(int segment) {
    return rows[at(segment, STATE)] >>> KIND_SHIFT & (1 << KIND_BITS) - 1;
  }

  int turn(int segment) {
    return rows[at(segment, STATE)] >>> TURN_SHIFT & TURN_MAX;
  }

  boolean isSuperseded(int segment) {
    return (rows[at(segment, STATE)] & SUPERSEDED) != 0;
  }

  int generation(int segment) {
    return generations[segment + 1];
  }

  long born(int segment) {
    int row = at(segment, BORN);
    return ((long) rows[row + 1] << Integer.SIZE) | (rows[row] & 0xffffffffL);
  }

  /** Place in its chain of the last block that the segment ever had. */
  int last(int segment) {
    return rows[at(segment, LAST)];
  }

  /** Returns the number of blocks that it had at first. */
  int size(int segment) {
    return rows[at(segment, SIZE)];
  }

  /** So many more blocks, the last at that place of the chain, are of its first ones. */
  void enlarge(int segment, int blocks, int place) {
    rows[at(segment, SIZE)] += blocks;
    rows[at(segment, LAST)] = place;
  }

  int hint(int segment) {
    return rows[at(segment, CLASS)] >>> HINT_SHIFT;
  }

  void hint(int segment, int hint) {
    int row = at(segment, CLASS);
    rows[row] = (rows[row] & CLASS_BITS) | (hint << HINT_SHIFT);
  }

  /** Returns the number of its blocks that are here or remembered. */
  int left(int segment) {
    int row = at(segment, 0);
    return rows[row + RESIDENT] + rows[row + GHOSTS];
  }

  void gainResident(int segment) {
    gainResidents(segment, 1);
  }

  void gainResidents(int segment, int count) {
    int row = at(segment, 0);
    if (rows[row + RESIDENT] == 0 && list(segment) == GHOST_LIST) unlink(segment);
    rows[row + RESIDENT] += count;
    if (isOfLru(segment)) blocksOfLru += count;
  }

  void loseResident(int segment) {
    loseResidents(segment, 1);
  }

  void loseResidents(int segment, int count) {
    if (isOfLru(segment)) blocksOfLru -= count;
    if ((rows[at(segment, RESIDENT)] -= count) == 0) settle(segment);
  }

  /** One of its blocks is not here any more, and remembered. */
  void loseToGhost(int segment) {
    int row = at(segment, 0);
    ghosts++;
    rows[row + GHOSTS]++;
    if (--rows[row + RESIDENT] == 0) settle(segment);
  }

  void gainGhost(int segment) {
    ghosts++;
    if (isOfLru(segment)) blocksOfLru++;
    if (rows[at(segment, GHOSTS)]++ == 0) settle(segment);
  }

  boolean hasGhosts(int segment) {
    return rows[at(segment, GHOSTS)] > 0;
  }

  /**
   * One of its ghosts is no ghost any more; which one may be a guess, so there may be none left.
   */
  void loseGhost(int segment) {
    if (!hasGhosts(segment)) return;
    ghosts--;
    if (isOfLru(segment)) blocksOfLru--;
    if (--rows[at(segment, GHOSTS)] == 0) settle(segment);
  }

  /** Forgets segments of which nothing is here, first those that lost their blocks first. */
  void forgetGhosts() {
    while (ghosts > ghostsMax && firsts[GHOST_LIST] != NONE) forget(firsts[GHOST_LIST]);
  }

  private void settle(int segment) {
    int row = at(segment, 0);
    if (rows[row + RESIDENT] > 0) return;
    if (rows[row + GHOSTS] == 0) {
      if (segment != kept) forget(segment);
    } else if (list(segment) != GHOST_LIST) {
      append(GHOST_LIST, segment);
    }
  }

  private void forget(int segment) {
    int row = at(segment, 0);
    ghosts -= rows[row + GHOSTS];
    if (isOfLru(segment)) blocksOfLru -= rows[row + GHOSTS];
    if (segment == oldestOfLru) oldestOfLru = rows[row + YOUNGER];
    rows[row + GHOSTS] = 0;
    if (list(segment) != NO_LIST) unlink(segment);
    generations[segment + 1] = (short) (generations[segment + 1] + 1 & GhostOwners.GENERATION);
    int before = rows[row + OLDER];
    int after = rows[row + YOUNGER];
    if (before != NONE) rows[at(before, YOUNGER)] = after;
    if (after == NONE) youngest = before;
    else rows[at(after, OLDER)] = before;
    for (int age = age(segment) + 1;
        age < ReturnTables.AGES && nextToReach[age] == segment;
        age++) {
      nextToReach[age] = after;
    }
    used--;
    append(FREE, segment);
  }

  /** The oldest segment that has not reached the age, or {@link #NONE}. */
  int nextToReach(int age) {
    return nextToReach[age];
  }

  /** The oldest segment that has not reached the age has reached it now. */
  void reach(int age) {
    int segment = nextToReach[age];
    rows[at(segment, STATE)]++;
    nextToReach[age] = rows[at(segment, YOUNGER)];
  }

  /**
   * Lets LRU evict until it has so many blocks: what was used longest ago. Of the blocks that were
   * used last at the same time, the first ones stay.
   */
  void evictAsLru(int blocksMax) {
    while (blocksOfLru > blocksMax && oldestOfLru != NONE) {
      lruBorn = born(oldestOfLru);
      do {
        if (kind(oldestOfLru) != UNCLAIMED) blocksOfLru -= left(oldestOfLru);
        oldestOfLru = rows[at(oldestOfLru, YOUNGER)];
      } while (oldestOfLru != NONE && born(oldestOfLru) == lruBorn);
    }
  }

  /**
   * Returns whether LRU would have all blocks of the segment; false if they belong to no request
   * yet.
   */
  private boolean isOfLru(int segment) {
    return born(segment) > lruBorn && kind(segment) != UNCLAIMED;
  }

  /**
   * Returns the number of leading blocks that LRU has, counted from the first of the segment's
   * chain.
   */
  int keptByLru(int segment, int blocksMax) {
    long born = born(segment);
    if (born > lruBorn) return Integer.MAX_VALUE;
    return born == lruBorn ? (int) (blocksMax - blocksOfLru) : 0;
  }

  /** Returns the size of its arrays in bytes. */
  long bytes() {
    return (long) Integer.BYTES * (rows.length + firsts.length + lasts.length)
        + (long) Short.BYTES * generations.length;
  }

  /** Makes room for that many cells. */
  void growCells(int cells) {
    int before = firsts.length;
    if (CELLS + cells <= before) return;
    firsts = Arrays.copyOf(firsts, CELLS + cells);
    lasts = Arrays.copyOf(lasts, CELLS + cells);
    Arrays.fill(firsts, before, firsts.length, NONE);
    Arrays.fill(lasts, before, lasts.length, NONE);
  }

  int firstOfCell(int cell) {
    return firsts[CELLS + cell];
  }

  boolean isInCell(int segment) {
    return list(segment) == CELLS;
  }

  void addToCell(int cell, int segment) {
    append(CELLS + cell, segment);
  }

  void addFirstToCell(int cell, int segment) {
    int list = CELLS + cell;
    int row = at(segment, 0);
    int first = firsts[list];
    list(segment, CELLS);
    rows[row + BEFORE] = NONE;
    rows[row + AFTER] = first;
    if (first == NONE) lasts[list] = segment;
    else rows[at(first, BEFORE)] = segment;
    firsts[list] = segment;
  }

  void removeFromCell(int segment) {
    unlink(segment);
  }

  int firstSlot(int segment) {
    return rows[at(segment, FIRST_SLOT)];
  }

  int lastSlot(int segment) {
    return rows[at(segment, LAST_SLOT)];
  }

  void firstSlot(int segment, int slot) {
    rows[at(segment, FIRST_SLOT)] = slot;
  }

  void lastSlot(int segment, int slot) {
    rows[at(segment, LAST_SLOT)] = slot;
  }

  private void append(int list, int segment) {
    int row = at(segment, 0);
    int last = lasts[list];
    list(segment, Math.min(list, CELLS));
    rows[row + AFTER] = NONE;
    rows[row + BEFORE] = last;
    if (last == NONE) firsts[list] = segment;
    else rows[at(last, AFTER)] = segment;
    lasts[list] = segment;
  }

  private void unlink(int segment) {
    int row = at(segment, 0);
    int list = list(segment);
    // A segment is in the cell of its class and age.
    if (list == CELLS) list += classOf(segment) * ReturnTables.AGES + age(segment);
    int before = rows[row + BEFORE];
    int after = rows[row + AFTER];
    if (before == NONE) firsts[list] = after;
    else rows[at(before, AFTER)] = after;
    if (after == NONE) lasts[list] = before;
    else rows[at(after, BEFORE)] = before;
    list(segment, NO_LIST);
  }

  private int list(int segment) {
    return (rows[at(segment, STATE)] & LIST_BITS) >>> LIST_SHIFT;
  }

  private void list(int segment, int list) {
    int row = at(segment, STATE);
    rows[row] = (rows[row] & ~LIST_BITS) | (list << LIST_SHIFT);
  }

  private static int at(int segment, int field) {
    return segment * ROW + field;
  }
}
