package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.policy.ReturnHint;

/**
 * The blocks that one sequence holds in the engine's memory, from its first token on.
 *
 * <p>Positions count tokens of the sequence. A call for a position inside a held block does
 * nothing, so a caller that knows the block boundaries needs to call only at these.
 */
public interface KvSpan {
  /** Returns the number of held blocks. */
  int blocks();

  /** Returns those of its first blocks that needed no computing. */
  CachedBlocks cached();

  /** Returns the slot, in the engine's memory, of the block at that place of the sequence. */
  int slot(int index);

  /** Takes the blocks that are missing for all tokens before that position. */
  void reserve(int end);

  /** A step begins that computes into the blocks reserved so far. */
  default void start() {}

  /**
   * A step is on its way that computes all tokens before that position. Full blocks are its
   * sequence's alone until {@link #fill} follows, when it has landed; if it fails, {@link #release}
   * follows.
   *
   * @return whether any block is full when it lands
   */
  default boolean launch(int end) {
    return true;
  }

  /** All tokens before that position are computed: full blocks can be shared from now on. */
  void fill(int end);

  /**
   * The request is about to end and releases everything next: the store may learn from it which of
   * them return.
   */
  default void ended(int outputTokens, ReturnHint hint) {}

  /**
   * Returns what takes all further blocks of the sequence together with those of others, if that
   * many of its tokens are computed and nothing else is under way; null where its blocks are taken
   * one by one.
   */
  default @Nullable KvGrowth growth(int computed) {
    return null;
  }

  /**
   * Tells the span how far its sequence has come, if its blocks were taken together with those of
   * others: the positions before which they are reserved, begun and filled.
   */
  default void grown(int reserved, int started, int filled) {}

  /** Gives everything back; what was filled stays cached. */
  void release();
}
