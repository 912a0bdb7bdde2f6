package dev.kvasir.kv.evict;

/**
 * Remembers to which segment each block belonged that is not here any more.
 *
 * <p>A table of rows of eight places, without deletion: a segment that is forgotten takes its names
 * with it, since an entry counts only while its segment still has the generation that the entry
 * has. Where all places of a row count, a new name displaces one of them. A name is 48 bits, so a
 * wrong answer is possible; it costs one bad guess about a block, nothing else.
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
  private long displaced;

  GhostOwners(int namesMax, Segments segments) {
    this.segments = segments;
    this.rows = Math.toIntExact((long) Math.ceil(namesMax / NAMES_PER_ROW));
    this.places = new long[Math.multiplyExact(rows, WAYS)];
  }

  /** Where the name is, or {@link #NONE}. */
  int find(long name) {
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

  /** How many names were forgotten because their places were taken. */
  long displaced() {
    return displaced;
  }

  /** Forgets the name; the segment loses a ghost. */
  void remove(int place) {
    int segment = segment(place);
    places[place] = 0;
    segments.loseGhost(segment);
  }

  /** Remembers a name that is not here; the segment gains a ghost. */
  void add(long name, int forks, int segment) {
    int length =
        Math.min((1 << FORKS_BITS) - 1, Integer.SIZE - Integer.numberOfLeadingZeros(forks));
    int place = place(name);
    if (counts(places[place])) {
      displaced++;
      segments.loseGhost(segment(place));
    }
    places[place] =
        name << NAME_SHIFT
            | (long) length << FORKS_SHIFT
            | (long) segments.generation(segment) << SEGMENT_BITS
            | (segment + 1);
    segments.gainGhost(segment);
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
    return place != NONE ? place : one;
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

  private int free(int row) {
    for (int at = row; at < row + WAYS; at++) {
      if (!counts(places[at])) return at;
    }
    return NONE;
  }

  /** How many bytes the table takes. */
  long bytes() {
    return (long) Long.BYTES * places.length;
  }

  private boolean counts(long entry) {
    if (entry == 0) return false;
    int segment = (int) (entry & SEGMENT) - 1;
    return segments.generation(segment) == (int) ((entry & OWNER) >>> SEGMENT_BITS);
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
