package dev.kvasir.sim.workload;

import dev.kvasir.kv.name.BlockHash;

/**
 * Walks the blocks of a content and names each by its tokens and everything before them.
 *
 * <p>Contents that agree on all tokens up to the end of a block give it the same name, and others
 * give it another, for one salt and one block size.
 */
public final class Names {
  /** As many as numbers that fill a line of the processor's cache. */
  private static final long NEIGHBOURS = 16;

  private final Content content;
  private final int blockTokens;
  private int segment;
  private long at;
  private long segmentStart;
  private long first;
  private long second;
  private long third;
  private long fourth;
  private long street;
  private long neighbour;

  Names(Content content, int blockTokens, long salt) {
    if (blockTokens <= 0) throw new IllegalArgumentException(blockTokens + " tokens in a block");
    this.content = content;
    this.blockTokens = blockTokens;
    first = Mix.spread(salt + Mix.GOLDEN);
    second = Mix.spread(first + blockTokens);
    third = Mix.spread(second + Mix.GOLDEN);
    fourth = Mix.spread(third + Mix.GOLDEN);
  }

  /** The name of the next block. */
  public BlockHash next() {
    boolean goesOn = at > segmentStart;
    long blockEnd = at + blockTokens;
    boolean inside = blockEnd <= content.end(segment);
    while (at < blockEnd) {
      long segmentEnd = content.end(segment);
      long pieceEnd = Math.min(blockEnd, segmentEnd);
      mix(content.stream(segment), at - segmentStart, (int) (pieceEnd - at));
      at = pieceEnd;
      if (at == segmentEnd) {
        segment++;
        segmentStart = at;
      }
    }
    // In two words, so that all four together are as spread as ever.
    long shift = home(goesOn && inside ? neighbour + 1 : 0) ^ BlockHash.home(first, second, third);
    return new BlockHash(first, second, third ^ shift, fourth ^ shift);
  }

  /**
   * Returns where the block stands in tables. A block that can only be the next one of its segment
   * stands beside the one before it, where the processor's cache has the place already.
   */
  private long home(long place) {
    neighbour = place % NEIGHBOURS;
    if (neighbour == 0) street = third & -NEIGHBOURS;
    return street | neighbour;
  }

  /** Four chains side by side, since one would have to wait for itself four times as often. */
  private void mix(long stream, long offset, int tokens) {
    long piece = (offset << 32) + tokens;
    first = Mix.spread(first ^ (stream * 0xd1342543de82ef95L + piece * 0xaf251af3b0f025b5L));
    second = Mix.spread(second ^ (stream * 0xf1357aea2e62a9c5L + piece * 0xb564ef22ec7aece5L));
    third = Mix.spread(third ^ (stream * 0x9fb21c651e98df25L + piece * 0xd6e8feb86659fd93L));
    fourth = Mix.spread(fourth ^ (stream * 0xa0761d6478bd642fL + piece * 0xe7037ed1a0b428dbL));
  }
}
