package dev.kvasir.router.index;

/**
 * Blocks that instances are expected to have soon, oldest first, in a ring of fixed size.
 *
 * <p>Each guess expires by itself: a guess that is confirmed, refuted or replaced leaves its slot
 * empty, so an old guess never ends a newer one.
 */
final class Guesses {
  private static final long NONE = -1;

  private final long lifetimeNanos;

  /** For each row of the index the slot of its newest open guess: its number + 1, or 0. */
  private final int[] newest;

  /** Rows with open guesses, as bits: so few words that most questions touch nothing else. */
  private final long[] guessed;

  /** The row and the place of each guess, or {@link #NONE} for a slot that was emptied. */
  private final long[] ring;

  /** For each slot the one of the next older open guess of its row: its number + 1, or 0. */
  private final int[] older;

  private final long[] madeNanos;
  private int first;
  private int count;

  Guesses(IndexSettings settings) {
    this.lifetimeNanos = settings.guessLifetime().toNanos();
    this.newest = new int[settings.entriesMax()];
    this.guessed = new long[Math.ceilDiv(settings.entriesMax(), Long.SIZE)];
    this.ring = new long[settings.guessesMax()];
    this.older = new int[settings.guessesMax()];
    this.madeNanos = new long[settings.guessesMax()];
  }

  boolean isFull() {
    return count == ring.length;
  }

  /** Returns how many must go to make room for {@code more} others. */
  int surplus(int more) {
    return Math.clamp(count + (long) more - ring.length, 0, count);
  }

  /** The row of the guess at that distance from the oldest; 0 for an empty slot. */
  int row(int behind) {
    long guess = ring[(first + behind) % ring.length];
    return guess == NONE ? 0 : row(guess);
  }

  boolean isDue(long nowNanos) {
    return count > 0 && nowNanos - madeNanos[first] >= lifetimeNanos;
  }

  /** Expects the row at the place, for which no guess is open. */
  void add(int row, int place, long nowNanos) {
    int at = (first + count++) % ring.length;
    ring[at] = (long) row << Integer.SIZE | place;
    madeNanos[at] = nowNanos;
    older[at] = newest[row];
    newest[row] = at + 1;
    guessed[row / Long.SIZE] |= 1L << row;
  }

  /** Takes the oldest out; answers with it where it is open, else with {@link #NONE}. */
  long poll() {
    long guess = ring[first];
    if (guess != NONE) {
      var _ = settle(row(guess), place(guess));
    }
    first = (first + 1) % ring.length;
    count--;
    return guess;
  }

  static boolean isOpen(long guess) {
    return guess != NONE;
  }

  static int row(long guess) {
    return (int) (guess >>> Integer.SIZE);
  }

  static int place(long guess) {
    return (int) guess;
  }

  /** The guess is confirmed or refuted; answers whether there was one. */
  boolean settle(int row, int place) {
    if ((guessed[row / Long.SIZE] & 1L << row) == 0) return false;
    int before = 0;
    for (int link = newest[row]; link != 0; link = older[link - 1]) {
      if (place(ring[link - 1]) == place) {
        unlink(row, before, link - 1);
        return true;
      }
      before = link;
    }
    return false;
  }

  private void unlink(int row, int before, int at) {
    if (before == 0) newest[row] = older[at];
    else older[before - 1] = older[at];
    ring[at] = NONE;
    if (newest[row] == 0) guessed[row / Long.SIZE] &= ~(1L << row);
  }
}
