package dev.kvasir.kv.evict.policy;

/**
 * A set of small numbers, one bit each, that finds the next one by going through its words.
 *
 * <p>No summary above the words: keeping one would cost at every change, and a search goes on where
 * the last search ended.
 */
public final class SlotSet {
  static final int NONE = EvictionPolicy.NONE;

  /** Numbers that share one word. */
  public static final int NEAR = Long.SIZE;

  private static final int WORD_SHIFT = 6;

  private final long[] words;

  /** A set for the numbers below that one. */
  public SlotSet(int numbers) {
    this.words = new long[((numbers - 1) >>> WORD_SHIFT) + 1];
  }

  /** Returns its size in bytes. */
  public long bytes() {
    return (long) Long.BYTES * words.length;
  }

  public void add(int number) {
    words[number >>> WORD_SHIFT] |= 1L << number;
  }

  public void remove(int number) {
    words[number >>> WORD_SHIFT] &= ~(1L << number);
  }

  /** Takes out all numbers in the word of this one. */
  public void removeNear(int number) {
    words[number >>> WORD_SHIFT] = 0;
  }

  /** The least number that is not below this one, else the least of all, else {@link #NONE}. */
  public int nextAround(int number) {
    int at = number >>> WORD_SHIFT;
    long rest = words[at] & -1L << number;
    return rest == 0 ? search(at) : numberOf(at, rest);
  }

  private int search(int from) {
    for (int steps = 1; steps <= words.length; steps++) {
      int at = from + steps;
      if (at >= words.length) at -= words.length;
      if (words[at] != 0) return numberOf(at, words[at]);
    }
    return NONE;
  }

  private static int numberOf(int word, long bits) {
    return (word << WORD_SHIFT) + Long.numberOfTrailingZeros(bits);
  }
}
