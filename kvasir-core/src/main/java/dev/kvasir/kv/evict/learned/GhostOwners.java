package dev.kvasir.kv.evict.learned;

import dev.kvasir.kv.name.BlockHash;

/**
 * Remembers to which segment each block belonged that is not here any more.
 *
 * <p>A table of rows of eight places, without deletion: a segment that is forgotten takes its names
 * with it, since an entry counts only while its segment still has the generation that the entry
 * has. Where all places of a row count, a new name displaces one of them. A name is 48 bits, so a
 * wrong answer is possible; it costs one bad guess about a block, nothing else.
 *
 * <p>Rows lie anywhere in memory. Names to remember therefore wait until there are some, or until
 * one is looked for, and their rows are read together: that waits for memory once, not for each.
 *
 * <pre>
 *   an entry:  24 bits of the name | 4 bits: length of its forks in bits | 9 bits: generation
 *              | 27 bits: segment + 1
 * </pre>
 */
final class GhostOwners {
  static final int NONE = -1;
  static final int GENERATION_BITS = 9;
  static final int GENERATION = (1 << GENERATION_BITS) - 1;
  static final int SEGMENT_BITS = 27;

  private static final int WAYS_SHIFT = 3;
  private static final int WAYS = 1 << WAYS_SHIFT;

  /** Names for each row, of its eight places. */
  private static final double NAMES_PER_ROW = 6;

  /** The largest name. */
  static final long NAME_MAX = (1L << 48) - 1;

  /** Largest number of names that wait; each is counted by its segment while it waits. */
  private static final int WAITING_MAX = 64;

  private static final long MIX = 0x9e3779b97f4a7c15L;

  private static final int FORKS_SHIFT = GENERATION_BITS + SEGMENT_BITS;
  private static final int FORKS_BITS = 4;
  private static final int NAME_SHIFT = FORKS_SHIFT + FORKS_BITS;
  private static final long NAME = (1L << (Long.SIZE - NAME_SHIFT)) - 1;
  private static final long SEGMENT = (1L << SEGMENT_BITS) - 1;
  private static final long OWNER = (1L << FORKS_SHIFT) - 1;

  private final Segments segments;
  private final long[] places;
  private final int rows;
  private final long[] waitingNames = new long[WAITING_MAX];
  private final long[] waitingEntries = new long[WAITING_MAX];
  private int waiting;

  /**
   * Place in a row where the search for a free place begins. It moves on after as many names as
   * there are rows: what lies there is the oldest, whose segment is most likely forgotten.
   */
  private int start;

  private int untilNextStart;

  /** Sum of what was read ahead of time; without it, the compiler would leave out the reads. */
  @SuppressWarnings("UnusedVariable")
  private long read;

  GhostOwners(int namesMax, Segments segments) {
    this.segments = segments;
    this.rows = Math.toIntExact((long) Math.ceil(namesMax / NAMES_PER_ROW));
    this.places = new long[Math.multiplyExact(rows, WAYS)];
    this.untilNextStart = rows;
  }

  /** Returns the place of the name, or {@link #NONE}. */
  int find(long name) {
    if (waiting > 0) placeWaiting();
    int row = row(name);
    int place = findIn(row, name);
    return place != NONE ? place : findIn(other(row, name), name);
  }

  private int findIn(int row, long name) {
    for (int at = row; at < row + WAYS; at++) {
      long entry = places[at];
      if ((entry ^ name << NAME_SHIFT) >>> NAME_SHIFT == 0 && counts(entry)) return at;
    }
    return NONE;
  }

  int segment(int place) {
    return (int) (places[place] & SEGMENT) - 1;
  }

  /** About how many forks the block had: at most as many as it had. */
  int forks(int place) {
    int length = (int) (places[place] >>> FORKS_SHIFT) & (1 << FORKS_BITS) - 1;
    return length == 0 ? 0 : 1 << (length - 1);
  }

  /** Forgets the name; the segment loses a ghost. */
  void remove(int place) {
    int segment = segment(place);
    places[place] = 0;
    segments.loseGhost(segment);
  }

  /** Forgets the name, if it is here; its segment keeps the ghost. */
  void forget(long name) {
    int place = find(name);
    if (place != NONE) places[place] = 0;
  }

  /** Remembers a name that is not here, as one of its segment's ghosts. */
  void add(long name, int forks, int segment) {
    int length =
        Math.min((1 << FORKS_BITS) - 1, Integer.SIZE - Integer.numberOfLeadingZeros(forks));
    waitingNames[waiting] = name;
    waitingEntries[waiting] =
        name << NAME_SHIFT
            | (long) length << FORKS_SHIFT
            | (long) segments.generation(segment) << SEGMENT_BITS
            | (segment + 1);
    if (++waiting == WAITING_MAX) placeWaiting();
  }

  private void placeWaiting() {
    int count = waiting;
    waiting = 0;
    long seen = 0;
    for (int i = 0; i < count; i++) {
      int row = row(waitingNames[i]);
      seen += places[row] ^ places[row + WAYS - 1];
    }
    read += seen;
    for (int i = 0; i < count; i++) {
      // Its segment may have been forgotten while it waited.
      if (counts(waitingEntries[i])) put(waitingNames[i], waitingEntries[i]);
    }
  }

  private void put(long name, long entry) {
    int place = place(name);
    if (counts(places[place])) segments.loseGhost(segment(place));
    places[place] = entry;
    if (--untilNextStart > 0) return;
    untilNextStart = rows;
    start = start + 1 & WAYS - 1;
  }

  /** A free place in one of the two rows; where both are full, one of theirs moves. */
  private int place(long name) {
    int one = row(name);
    int place = free(one);
    if (place != NONE) return place;
    int two = other(one, name);
    place = free(two);
    if (place != NONE) return place;
    place = makeRoom(one);
    if (place != NONE) return place;
    place = makeRoom(two);
    return place != NONE ? place : one + start;
  }

  /** Moves an entry of the full row to the other row where it may be, if one has room there. */
  private int makeRoom(int row) {
    for (int at = row; at < row + WAYS; at++) {
      int other = other(row, places[at] >>> NAME_SHIFT);
      int to = free(other);
      if (to == NONE) continue;
      places[to] = places[at];
      places[at] = 0;
      return at;
    }
    return NONE;
  }

  /** All places are asked at once: which one is free cannot be foretold, so a branch each costs. */
  private int free(int row) {
    int free = 0;
    for (int i = 0; i < WAYS; i++) free |= (counts(places[row + i]) ? 0 : 1) << i;
    if (free == 0) return NONE;
    int fromStart = (free | free << WAYS) >>> start;
    return row + (start + Integer.numberOfTrailingZeros(fromStart) & WAYS - 1);
  }

  /** Returns the size of the table in bytes. */
  long bytes() {
    return (long) Long.BYTES * (places.length + 2 * WAITING_MAX);
  }

  private boolean counts(long entry) {
    int generation = (int) ((entry & OWNER) >>> SEGMENT_BITS);
    return segments.generation((int) (entry & SEGMENT) - 1) == generation;
  }

  /** Its name in this table. */
  static long name(BlockHash hash) {
    return hash.spread() & NAME_MAX;
  }

  /** The first of the two rows where the name may be. */
  private int row(long name) {
    return (int) ((((name * MIX) >>> Integer.SIZE) * rows) >>> Integer.SIZE) << WAYS_SHIFT;
  }

  /** The other of the two rows, from either, by that part of the name which an entry has. */
  private int other(int row, long name) {
    long part = name & NAME;
    int sum = (int) ((((part * MIX * MIX) >>> Integer.SIZE) * rows) >>> Integer.SIZE);
    int other = sum - (row >>> WAYS_SHIFT);
    return (other < 0 ? other + rows : other) << WAYS_SHIFT;
  }
}
