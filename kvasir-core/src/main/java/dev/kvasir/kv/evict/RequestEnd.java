package dev.kvasir.kv.evict;

import dev.kvasir.kv.name.BlockNames;

/**
 * What is known of a request when it ends and its blocks are about to be released.
 *
 * @param names its blocks from the first on
 * @param blocks how many of them there are
 * @param fullBlocks how many of them a longer prompt can share; what comes after them was padded
 * @param outputTokens how many tokens it generated, or {@link #UNKNOWN}
 * @param hint what its caller said about the next turn
 */
public record RequestEnd(
    BlockNames names, int blocks, int fullBlocks, int outputTokens, ReturnHint hint) {
  /** In place of the output tokens: nobody counted them. */
  public static final int UNKNOWN = -1;

  public RequestEnd {
    if (blocks < 0 || fullBlocks < 0 || fullBlocks > blocks || outputTokens < UNKNOWN) {
      throw new IllegalArgumentException(
          fullBlocks + " full of " + blocks + " blocks, " + outputTokens + " output tokens");
    }
  }
}
