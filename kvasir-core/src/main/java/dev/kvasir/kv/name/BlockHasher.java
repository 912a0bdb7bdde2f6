package dev.kvasir.kv.name;

import dev.kvasir.Nullable;
import java.util.List;

/**
 * Hashes full blocks: each hash covers the block's tokens and the hash of the block before it. A
 * sequence that grows by a block hashes only that block.
 *
 * <p>A hasher is for one model and one tenant: blocks of different hashers never share a hash. It
 * reuses its buffers, and therefore belongs to one loop, like the sequences that use it.
 */
public sealed interface BlockHasher permits Sha256Hasher {
  /** The most tokens a block may have. */
  int BLOCK_TOKENS_MAX = 1 << 16;

  /** The fingerprint of everything that shapes K and V. */
  String model();

  /** Returns the salt that is mixed only into this tenant's blocks; empty where all may share. */
  String salt();

  /**
   * The name of the block that holds the tokens {@code from} up to {@code to} of a sequence.
   *
   * @param parent the name of the block before it; null for the first of a sequence
   * @param tokens the sequence from its first token on; only the block's own are read
   * @param extraKeys runs of the sequence, sorted; those that do not touch the block have no effect
   */
  BlockHash hash(
      @Nullable BlockHash parent, int[] tokens, int from, int to, List<ExtraKey> extraKeys);
}
