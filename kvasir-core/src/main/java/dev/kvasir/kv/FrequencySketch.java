package dev.kvasir.kv;

/**
 * Estimates how often each block was used lately, in 4 bits a counter.
 *
 * <p>A block has two counters in one word, one in each half, and counts as often as the smaller of
 * them says. The word is chosen by the low bits of the mixed hash and the counters by its high
 * bits, so that every counter can be reached whatever the size. After ten uses per block of
 * capacity all counters are halved; every use counts towards that, also one that finds its counters
 * full, so that the sketch decays at any size and under any load.
 */
public final class FrequencySketch {
  /** What a counter can say at most. */
  public static final int COUNT_MAX = 15;

  private static final int BLOCKS_PER_WORD = 2;
  private static final int USES_PER_BLOCK = 10;
  private static final int BLOCKS_MAX = 1 << 28;

  /** Clears the bit that a counter's lowest bit is shifted into from its left neighbour. */
  private static final long HALVED = 0x7777777777777777L;

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
    long mixed = mixed(hash);
    int at = (int) mixed & words.length - 1;
    long word = words[at];
    // Of a counter that is full, and of no other, the lowest bit is left.
    long full = word & word >>> 1;
    full &= full >>> 2;
    long ones = 1L << shift(mixed) | 1L << Integer.SIZE << shift(mixed << 3);
    words[at] = word + (ones & ~full);
    if (++uses >= usesMax) decay();
  }

  /** How often the block was used lately: 0 to {@link #COUNT_MAX}. */
  public int count(BlockHash hash) {
    return count(mixed(hash));
  }

  /** The count of the block whose hash was mixed to this. */
  int count(long mixed) {
    long word = words[(int) mixed & words.length - 1];
    int first = (int) (word >>> shift(mixed)) & COUNT_MAX;
    int second = (int) (word >>> Integer.SIZE >>> shift(mixed << 3)) & COUNT_MAX;
    return Math.min(first, second);
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

  /** Where in its half of the word a counter is: the three highest bits say which of eight. */
  private static int shift(long mixed) {
    return (int) (mixed >>> 59) & 28;
  }

  /** The hash as one number, of which the lowest bits and the highest say different things. */
  static long mixed(BlockHash hash) {
    long product = hash.spread() * 0x9e3779b97f4a7c15L;
    return product ^ product >>> Integer.SIZE;
  }
}
