package dev.kvasir.kv.evict.learned;

/**
 * Compares the hits with those that LRU would have had, and decides which of the two orders is
 * used.
 *
 * <pre>
 *   learnt --LRU would have found more than may be lost--> oldest first
 *     ^                                                        |
 *     '--after a number of requests, if not too much is lost---'
 * </pre>
 *
 * Whoever leaves the order of LRU takes a risk: blocks that LRU had kept may be asked for next.
 * What may be lost on the whole is limited, to a small part of the pool at first and later to a
 * small part of all references, and each time that it is lost, LRU decides for twice as many
 * requests as the last time.
 */
final class LruRival {
  private static final int REQUESTS_BETWEEN = 1_024;
  private static final int REQUESTS_FALLBACK = 512;
  private static final int REQUESTS_FALLBACK_MAX = 65_536;

  /** LRU wins if it found that share and that number of blocks more of late. */
  private static final double SHARE_MORE = 0.1;

  private static final int BLOCKS_MORE = 256;

  /** Blocks of the pool for each one that may be lost at first; small pools may lose a few. */
  private static final double BLOCKS_PER_LOSS = 128;

  private static final double LOSS_MIN = 32;

  /** The part of it, or of all references, that may be lost with each further try. */
  private static final double LOSS_AGAIN = 0.25;

  private static final double LOSS_AGAIN_SHARE = 0.0001;

  /**
   * Share of all references: with more than that lost, beside the first loss, the tables are not
   * tried again yet.
   */
  private static final double LOSS_MAX_SHARE = 0.0003;

  /** The lead over LRU that the tables need to be trusted: blocks, and a share of references. */
  private static final double LEAD_MIN = 32;

  private static final double LEAD_MIN_SHARE = 0.002;

  private final double firstLoss;
  private double found;
  private double foundByLru;
  private long gained;
  private long references;
  private double floor;
  private boolean isAhead;
  private long fallbacks;
  private int untilDecision = REQUESTS_BETWEEN;
  private int fallbackNext = REQUESTS_FALLBACK;

  LruRival(int blocks) {
    this.firstLoss = Math.max(LOSS_MIN, blocks / BLOCKS_PER_LOSS);
    this.floor = -firstLoss;
  }

  /** A request for so many blocks found that many leading ones, and LRU would have found others. */
  void found(int blocks, int blocksFound, int blocksByLru) {
    references += blocks;
    found += blocksFound;
    foundByLru += blocksByLru;
    gained += blocksFound - blocksByLru;
    if (gained > LEAD_MIN + LEAD_MIN_SHARE * references) isAhead = true;
    else if (gained < 0) isAhead = false;
  }

  /** Returns how many more blocks were found than LRU would have found; negative if fewer. */
  long gained() {
    return gained;
  }

  /** Returns whether clearly more was found than LRU would have, and not lost again since. */
  boolean isAhead() {
    return isAhead;
  }

  /** Returns how often the oldest went first for a while, since the tables were worse. */
  long fallbacks() {
    return fallbacks;
  }

  /** Another request ended under that order; the order from now on. */
  Cells.Order decide(Cells.Order now) {
    if (now == Cells.Order.LEARNT && gained < floor) return fallBack();
    if (--untilDecision > 0) return now;
    untilDecision = REQUESTS_BETWEEN;
    if (now == Cells.Order.OLDEST) return tryAgain();
    boolean lost = foundByLru > (1 + SHARE_MORE) * found + BLOCKS_MORE;
    found /= 2;
    foundByLru /= 2;
    if (lost) return fallBack();
    if (foundByLru < found) fallbackNext = REQUESTS_FALLBACK;
    return Cells.Order.LEARNT;
  }

  private Cells.Order tryAgain() {
    if (gained < -firstLoss - LOSS_MAX_SHARE * references) return Cells.Order.OLDEST;
    double again = Math.max(LOSS_AGAIN * firstLoss, LOSS_AGAIN_SHARE * references);
    floor = Math.min(gained, 0) - again;
    found = 0;
    foundByLru = 0;
    return Cells.Order.LEARNT;
  }

  private Cells.Order fallBack() {
    fallbacks++;
    untilDecision = fallbackNext;
    fallbackNext = Math.min(REQUESTS_FALLBACK_MAX, 2 * fallbackNext);
    return Cells.Order.OLDEST;
  }
}
