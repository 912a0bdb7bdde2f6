package dev.kvasir.kv.evict.policy;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;

/** View of a pool for the policy that serves it. */
public interface EvictionSlots {
  /** Returns the number of slots; they are numbered from 0. */
  int count();

  /**
   * Returns the number of blocks that the pool keeps; fewer than slots where some room is only for
   * those held.
   */
  default int kept() {
    return count();
  }

  /** Returns the number of tokens in a block. */
  default int blockTokens() {
    return 512;
  }

  /** The slot that holds the block, or has just given it up, or {@link EvictionPolicy#NONE}. */
  int slotOf(BlockHash hash);

  /** Returns the content that the slot holds, or has just given up. */
  TokenBlock contentOf(int slot);
}
