package dev.kvasir.kv.evict;

import dev.kvasir.kv.name.BlockHash;

/**
 * Estimates how often each block was used lately, in 4 bits a counter.
 *
 * <p>There are sixteen counters for each block, so that few blocks share one. The low bits of the
 * mixed hash choose the word and the high ones the counter in it, so that every counter can be
 * reached whatever the size. After ten uses per block of capacity all counters are halved; every
 * use counts towards that, also one that finds its counter full, so that the sketch decays at any
 * size and under any load.
 */
public final class FrequencySketch {
  /** Largest value of a counter. */
  public static final int COUNT_MAX = 15;

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
    this.words = new long[blocks == 1 ? 1 : Integer.highestOneBit(blocks - 1) << 1];
    this.usesMax = (long) blocks * USES_PER_BLOCK;
  }

  /** Counts one use. */
  public void touch(BlockHash hash) {
    add(hash);
    age();
  }

  /**
   * Counts one of several uses, after which the sketch has to {@link #age}. Were that done here,
   * the compiler would have all that the caller knows read again for each block.
   */
  public void add(BlockHash hash) {
    long mixed = mixed(hash);
    int at = (int) mixed & words.length - 1;
    int shift = shift(mixed);
    long word = words[at];
    if ((word >>> shift & COUNT_MAX) != COUNT_MAX) words[at] = word + (1L << shift);
    uses++;
  }

  /** Halves all counters, if it is time. */
  public void age() {
    if (uses >= usesMax) decay();
  }

  /** Returns how often the block was used lately: 0 to {@link #COUNT_MAX}. */
  public int count(BlockHash hash) {
    return count(mixed(hash));
  }

  /** The count of the block whose hash was mixed to this. */
  int count(long mixed) {
    long word = words[(int) mixed & words.length - 1];
    return (int) (word >>> shift(mixed)) & COUNT_MAX;
  }

  /** Returns the number of times that all counters were halved. */
  public long decays() {
    return decays;
  }

  private void decay() {
    for (int i = 0; i < words.length; i++) words[i] = (words[i] >>> 1) & HALVED;
    uses = 0;
    decays++;
  }

  /** Returns the offset of a counter in its word: the four highest bits select one of sixteen. */
  private static int shift(long mixed) {
    return (int) (mixed >>> 58) & 60;
  }

  /** The hash as one number, of which the lowest bits and the highest say different things. */
  static long mixed(BlockHash hash) {
    long product = hash.spread() * 0x9e3779b97f4a7c15L;
    return product ^ product >>> Integer.SIZE;
  }
}
