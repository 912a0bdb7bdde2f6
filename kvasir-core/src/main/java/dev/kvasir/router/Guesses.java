package dev.kvasir.router;

/** Blocks that instances are expected to have soon, oldest first, in a ring of fixed size. */
final class Guesses {
  private final int words;
  private final long lifetimeNanos;

  /** For each row of the index the places that have not confirmed it. */
  private final long[] open;

  /** Rows with open places, as bits: so few words that most questions touch nothing else. */
  private final long[] guessed;

  private final long[] ring;
  private final long[] madeNanos;
  private int first;
  private int count;

  Guesses(IndexSettings settings, int words) {
    this.words = words;
    this.lifetimeNanos = settings.guessLifetime().toNanos();
    this.open = new long[Math.multiplyExact(settings.entriesMax(), words)];
    this.guessed = new long[Math.ceilDiv(settings.entriesMax(), Long.SIZE)];
    this.ring = new long[settings.guessesMax()];
    this.madeNanos = new long[settings.guessesMax()];
  }

  boolean isFull() {
    return count == ring.length;
  }

  /** How many must go for so many more to have room. */
  int surplus(int more) {
    return Math.clamp(count + (long) more - ring.length, 0, count);
  }

  /** The row of the guess that is so many places behind the oldest. */
  int row(int behind) {
    return row(ring[(first + behind) % ring.length]);
  }

  boolean isDue(long nowNanos) {
    return count > 0 && nowNanos - madeNanos[first] >= lifetimeNanos;
  }

  void add(int row, int place, long nowNanos) {
    int at = (first + count++) % ring.length;
    ring[at] = (long) row << Integer.SIZE | place;
    madeNanos[at] = nowNanos;
    open[row * words + place / Long.SIZE] |= 1L << place;
    guessed[row / Long.SIZE] |= 1L << row;
  }

  /** Takes the oldest out, be it confirmed or not. */
  long poll() {
    long guess = ring[first];
    first = (first + 1) % ring.length;
    count--;
    return guess;
  }

  static int row(long guess) {
    return (int) (guess >>> Integer.SIZE);
  }

  static int place(long guess) {
    return (int) guess;
  }

  boolean isOpen(int row, int place) {
    return (open[row * words + place / Long.SIZE] & 1L << place) != 0;
  }

  /** The guess is confirmed or refuted. */
  void settle(int row, int place) {
    if ((guessed[row / Long.SIZE] & 1L << row) == 0) return;
    open[row * words + place / Long.SIZE] &= ~(1L << place);
    for (int word = 0; word < words; word++) if (open[row * words + word] != 0) return;
    guessed[row / Long.SIZE] &= ~(1L << row);
  }
}
