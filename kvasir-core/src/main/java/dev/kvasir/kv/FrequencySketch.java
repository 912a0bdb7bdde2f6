package dev.kvasir.kv;

/**
 * Estimates how often each block was used lately, in 4 bits a counter.
 *
 * <p>A block has four counters in one cache line and counts as often as the smallest of them says.
 * The line is chosen by the low bits of the mixed hash and the counters by its high bits, so that
 * every counter can be reached whatever the size. After ten uses per block of capacity all counters
 * are halved; every use counts towards that, also one that finds its counters full, so that the
 * sketch decays at any size and under any load.
 */
public final class FrequencySketch {
  /** What a counter can say at most. */
  public static final int COUNT_MAX = 15;

  private static final int LINE_WORDS = 8;
  private static final int COUNTERS = 4;
  private static final int COUNTERS_PER_BLOCK = 4;
  private static final int COUNTERS_PER_LINE = LINE_WORDS * 16;
  private static final int USES_PER_BLOCK = 10;
  private static final int BLOCKS_MAX = 1 << 28;

  /** Clears the bit that a counter's lowest bit is shifted into from its left neighbour. */
  private static final long HALVED = 0x7777777777777777L;

  private final long[] words;
  private final int lineMask;
  private final long usesMax;
  private long uses;
  private long decays;

  /** A sketch for about that many different blocks. */
  public FrequencySketch(int blocks) {
    if (blocks < 1 || blocks > BLOCKS_MAX) {
      throw new IllegalArgumentException(blocks + " blocks, expected 1 to " + BLOCKS_MAX);
    }
    long lines = Math.ceilDiv((long) blocks * COUNTERS_PER_BLOCK, COUNTERS_PER_LINE);
    int linesRounded = lines == 1 ? 1 : (int) (Long.highestOneBit(lines - 1) << 1);
    this.words = new long[linesRounded * LINE_WORDS];
    this.lineMask = linesRounded - 1;
    this.usesMax = (long) blocks * USES_PER_BLOCK;
  }

  /** Counts one use. */
  public void touch(BlockHash hash) {
    long mixed = mix(hash.spread());
    int line = ((int) mixed & lineMask) * LINE_WORDS;
    for (int i = 0; i < COUNTERS; i++) {
      int word = line + word(mixed, i);
      int shift = shift(mixed, i);
      if (((words[word] >>> shift) & COUNT_MAX) < COUNT_MAX) words[word] += 1L << shift;
    }
    if (++uses >= usesMax) decay();
  }

  /** How often the block was used lately: 0 to {@link #COUNT_MAX}. */
  public int count(BlockHash hash) {
    return count(hash.spread());
  }

  int count(long spread) {
    long mixed = mix(spread);
    int line = ((int) mixed & lineMask) * LINE_WORDS;
    int least = COUNT_MAX;
    for (int i = 0; i < COUNTERS; i++) {
      int count = (int) (words[line + word(mixed, i)] >>> shift(mixed, i)) & COUNT_MAX;
      least = Math.min(least, count);
    }
    return least;
  }

  /** How often all counters were halved. */
  public long decays() {
    return decays;
  }

  private void decay() {
    for (int i = 0; i < words.length; i++) words[i] = (words[i] >>> 1) & HALVED;
    uses = 0;
    decays++;
  }

  /** Each of the four counters has two words of the line to itself: 1 bit says which. */
  private static int word(long mixed, int counter) {
    return 2 * counter + (int) (mixed >>> (63 - counter) & 1);
  }

  /** Which of the 16 counters of the word, as the shift that brings it down: 4 bits each. */
  private static int shift(long mixed, int counter) {
    return (int) (mixed >>> (56 - 4 * counter) & 15) * 4;
  }

  private static long mix(long spread) {
    long z = spread * 0x9e3779b97f4a7c15L;
    z ^= z >>> 32;
    z *= 0xd6e8feb86659fd93L;
    return z ^ (z >>> 29);
  }
}
