package dev.kvasir.kv;

/**
 * Estimates how often each block was used lately, in 4 bits a counter.
 *
 * <p>A block has four counters in one word and counts as often as the smallest of them says. The
 * word is chosen by the low bits of the mixed hash and the counters by its high bits, so that every
 * counter can be reached whatever the size. After ten uses per block of capacity all counters are
 * halved; every use counts towards that, also one that finds its counters full, so that the sketch
 * decays at any size and under any load.
 */
public final class FrequencySketch {
  /** What a counter can say at most. */
  public static final int COUNT_MAX = 15;

  private static final int COUNTERS = 4;
  private static final int BLOCKS_PER_WORD = 2;
  private static final int USES_PER_BLOCK = 10;
  private static final int BLOCKS_MAX = 1 << 28;

  /** Clears the bit that a counter's lowest bit is shifted into from its left neighbour. */
  private static final long HALVED = 0x7777777777777777L;

  /** The lowest bit of each counter. */
  private static final long ONES = 0x1111111111111111L;

  private final long[] words;
  private final long usesMax;
  private long uses;
  private long decays;

  /** A sketch for about that many different blocks. */
  public FrequencySketch(int blocks) {
    if (blocks < 1 || blocks > BLOCKS_MAX) {
      throw new IllegalArgumentException(blocks + " blocks, expected 1 to " + BLOCKS_MAX);
    }
    int rounded = blocks == 1 ? 1 : Integer.highestOneBit(blocks - 1) << 1;
    this.words = new long[Math.max(1, rounded / BLOCKS_PER_WORD)];
    this.usesMax = (long) blocks * USES_PER_BLOCK;
  }

  /** Counts one use. */
  public void touch(BlockHash hash) {
    long mixed = mix(hash.spread());
    int at = (int) mixed & words.length - 1;
    long word = words[at];
    long full = word & (word >>> 1) & (word >>> 2) & (word >>> 3) & ONES;
    words[at] = word + (counters(mixed) & ~full);
    if (++uses >= usesMax) decay();
  }

  /** How often the block was used lately: 0 to {@link #COUNT_MAX}. */
  public int count(BlockHash hash) {
    return count(hash.spread());
  }

  int count(long spread) {
    long mixed = mix(spread);
    long word = words[(int) mixed & words.length - 1];
    int least = COUNT_MAX;
    for (int i = 0; i < COUNTERS; i++) {
      least = Math.min(least, (int) (word >>> shift(mixed, i)) & COUNT_MAX);
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

  /** The lowest bits of the four counters of a block. */
  private static long counters(long mixed) {
    return 1L << shift(mixed, 0)
        | 1L << shift(mixed, 1)
        | 1L << shift(mixed, 2)
        | 1L << shift(mixed, 3);
  }

  /** Each counter is one of four in its quarter of the word: 2 bits say which. */
  private static int shift(long mixed, int counter) {
    return 16 * counter + 4 * (int) ((mixed >>> (62 - 2 * counter)) & 3);
  }

  private static long mix(long spread) {
    long z = spread * 0x9e3779b97f4a7c15L;
    z ^= z >>> 32;
    z *= 0xd6e8feb86659fd93L;
    return z ^ (z >>> 29);
  }
}
