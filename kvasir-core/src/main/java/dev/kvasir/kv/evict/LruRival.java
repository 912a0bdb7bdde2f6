package dev.kvasir.kv.evict;

/**
 * Compares what is found with what LRU would have found, and decides which of the two orders goes.
 *
 * <pre>
 *   learnt --LRU would have found clearly more--> oldest first
 *     ^                                               |
 *     '-------------after a number of requests--------'
 * </pre>
 *
 * LRU is kept without data, over a sample of the conversations in a memory smaller by as much. Each
 * time that it wins, LRU decides for twice as many requests as the last time.
 */
final class LruRival {
  /** The sample has at least so many blocks, unless the pool has fewer. */
  private static final int SAMPLE_BLOCKS_MIN = 1_024;

  private static final int SAMPLE_SHIFT_MAX = 3;
  private static final int REQUESTS_BETWEEN = 1_024;
  private static final int REQUESTS_FALLBACK = 4_096;
  private static final int REQUESTS_FALLBACK_MAX = 65_536;

  /** LRU wins if it found that share and that number of blocks more. */
  private static final double SHARE_MORE = 0.1;

  private static final int BLOCKS_MORE = 256;

  private final ShadowLru shadow;
  private final int sampleShift;
  private double found;
  private double foundByLru;
  private long gained;
  private long fallbacks;
  private int untilDecision = REQUESTS_BETWEEN;
  private int fallbackNext = REQUESTS_FALLBACK;

  LruRival(int blocks) {
    int shift = 0;
    while (shift < SAMPLE_SHIFT_MAX && blocks >> (shift + 1) >= SAMPLE_BLOCKS_MIN) shift++;
    this.sampleShift = shift;
    this.shadow = new ShadowLru(Math.max(1, blocks >> shift));
  }

  /** Whether the conversation whose first own block has that name is in the sample. */
  boolean samples(long name) {
    return (name & (1L << sampleShift) - 1) == 0;
  }

  /** Whether LRU would have found the block now. */
  boolean has(long name) {
    return shadow.has(name);
  }

  /** A block of the sample is used, the ends of chains first. */
  void use(long name) {
    shadow.use(name);
  }

  /** So many leading blocks of a request of the sample were found, and LRU would have found. */
  void found(int blocks, int blocksByLru) {
    found += blocks;
    foundByLru += blocksByLru;
    gained += blocks - blocksByLru;
  }

  /** About how many more blocks were found than LRU would have, fewer where it is negative. */
  long gained() {
    return gained << sampleShift;
  }

  /** How often the oldest went first for a while, since the tables were worse. */
  long fallbacks() {
    return fallbacks;
  }

  /** How many bytes the names take. */
  long bytes() {
    return shadow.bytes();
  }

  /** Another request ended under that order; the order from now on. */
  Cells.Order decide(Cells.Order now) {
    if (--untilDecision > 0) return now;
    untilDecision = REQUESTS_BETWEEN;
    if (now == Cells.Order.OLDEST) {
      found = 0;
      foundByLru = 0;
      return Cells.Order.LEARNT;
    }
    boolean lost = foundByLru > (1 + SHARE_MORE) * found + BLOCKS_MORE;
    found /= 2;
    foundByLru /= 2;
    if (!lost) {
      if (foundByLru < found) fallbackNext = REQUESTS_FALLBACK;
      return Cells.Order.LEARNT;
    }
    fallbacks++;
    untilDecision = fallbackNext;
    fallbackNext = Math.min(REQUESTS_FALLBACK_MAX, 2 * fallbackNext);
    return Cells.Order.OLDEST;
  }

  /**
   * What LRU would have kept of a sample of the blocks: their names alone, in the order of their
   * use.
   *
   * <p>A table from names to places, open addressed, and a list over the places.
   */
  static final class ShadowLru {
    private static final long MIX = 0x9e3779b97f4a7c15L;
    private static final int NONE = -1;

    private final long[] names;
    private final int[] cellOf;
    private final SlotLists line;

    /** For each cell of the table the place of a name plus 1, or 0. */
    private final int[] cells;

    private final int shift;
    private int size;

    ShadowLru(int blocksMax) {
      this.names = new long[blocksMax];
      this.cellOf = new int[blocksMax];
      this.line = new SlotLists(blocksMax, 1);
      int bits = Integer.SIZE - Integer.numberOfLeadingZeros(2 * blocksMax);
      this.cells = new int[1 << bits];
      this.shift = Long.SIZE - bits;
    }

    long bytes() {
      long ints = (long) Integer.BYTES * (cellOf.length + cells.length);
      return (long) Long.BYTES * names.length + line.bytes() + ints;
    }

    boolean has(long name) {
      return cells[cell(name)] != 0;
    }

    /** Makes the block the last to go; where there are too many, the first to go goes. */
    void use(long name) {
      int cell = cell(name);
      int place = cells[cell] - 1;
      if (place != NONE) {
        line.remove(place);
      } else if (size < names.length) {
        place = size++;
        enter(cell, name, place);
      } else {
        place = line.removeFirst(0);
        remove(cellOf[place]);
        enter(cell(name), name, place);
      }
      line.add(0, place);
    }

    private void enter(int cell, long name, int place) {
      names[place] = name;
      cellOf[place] = cell;
      cells[cell] = place + 1;
    }

    /** The cell of the name, or the empty one where it would be. */
    private int cell(long name) {
      int cell = home(name);
      while (cells[cell] != 0 && names[cells[cell] - 1] != name) cell = after(cell);
      return cell;
    }

    /** Empties the cell, and moves those behind it that are not where they would be without it. */
    private void remove(int from) {
      int hole = from;
      for (int cell = after(from); cells[cell] != 0; cell = after(cell)) {
        int place = cells[cell] - 1;
        int way = cell - home(names[place]) & cells.length - 1;
        if (way < (cell - hole & cells.length - 1)) continue;
        cells[hole] = place + 1;
        cellOf[place] = hole;
        hole = cell;
      }
      cells[hole] = 0;
    }

    private int home(long name) {
      return (int) ((name * MIX) >>> shift);
    }

    private int after(int cell) {
      return cell + 1 & cells.length - 1;
    }
  }
}
