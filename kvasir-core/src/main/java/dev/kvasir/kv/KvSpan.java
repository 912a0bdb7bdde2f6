package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.ReturnHint;

/**
 * The blocks that one sequence holds in the engine's memory, from its first token on.
 *
 * <p>Positions count tokens of the sequence. A call for a position inside a held block does
 * nothing, so a caller that knows the block boundaries needs to call only at these.
 */
public interface KvSpan {
  /** How many blocks are held. */
  int blocks();

  /** Which of its first blocks needed no computing. */
  CachedBlocks cached();

  /** Where in the engine's memory the block at that place of the sequence lies. */
  int slot(int index);

  /** Takes the blocks that are missing for all tokens before that position. */
  void reserve(int end);

  /** A step begins that computes into the blocks reserved so far. */
  default void start() {}

  /** All tokens before that position are computed: full blocks can be shared from now on. */
  void fill(int end);

  /**
   * The request is about to end and releases everything next: the store may learn from it which of
   * them return.
   */
  default void ended(int outputTokens, ReturnHint hint) {}

  /**
   * What takes all further blocks of the sequence together with those of others, if so many of its
   * tokens are computed and nothing else is under way; null where its blocks are taken one by one.
   */
  default @Nullable KvGrowth growth(int computed) {
    return null;
  }

  /**
   * How far a sequence has come whose blocks were taken together with those of others: the
   * positions before which they are reserved, begun and filled.
   */
  default void grown(int reserved, int started, int filled) {}

  /** Gives everything back; what was filled stays cached. */
  void release();
}
