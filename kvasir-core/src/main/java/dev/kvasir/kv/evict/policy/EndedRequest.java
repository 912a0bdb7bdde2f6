package dev.kvasir.kv.evict.policy;

import dev.kvasir.kv.name.BlockNames;

/**
 * Facts about a request that ends and whose blocks are about to be released.
 *
 * @param names its blocks from the first on
 * @param blocks the number of them
 * @param fullBlocks the number of them that a longer prompt can share; what comes after them was
 *     padded
 * @param outputTokens the number of tokens it generated, or {@link #UNKNOWN}
 * @param hint the caller's statement about the next turn
 */
public record EndedRequest(
    BlockNames names, int blocks, int fullBlocks, int outputTokens, ReturnHint hint) {
  /** In place of the output tokens: nobody counted them. */
  public static final int UNKNOWN = -1;

  public EndedRequest {
    if (blocks < 0 || fullBlocks < 0 || fullBlocks > blocks || outputTokens < UNKNOWN) {
      throw new IllegalArgumentException(
          fullBlocks + " full of " + blocks + " blocks, " + outputTokens + " output tokens");
    }
  }
}
