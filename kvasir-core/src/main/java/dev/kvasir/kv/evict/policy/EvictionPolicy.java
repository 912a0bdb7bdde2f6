package dev.kvasir.kv.evict.policy;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.Optional;

/**
 * Chooses the cached block that is evicted when a pool needs room.
 *
 * <p>A pool tells its policy about each of its slots, in this order:
 *
 * <pre>
 *   registered --> cached <--> held
 *        |            |          |
 *     removed      evicted    removed
 * </pre>
 *
 * A slot is held when it is registered. Duplicates of a block are not reported.
 */
public interface EvictionPolicy {
  /** Answer of {@link #evict} when nothing is cached. */
  int NONE = -1;

  /** The slot holds this block now. */
  void registered(int slot, TokenBlock block);

  /** Returns whether one slot may stand for a run of cached blocks that have no names. */
  default boolean acceptsRuns() {
    return false;
  }

  /**
   * That many blocks without names are cached, and the slot stands for all of them: they follow
   * each other behind a block that has a name, and were released from the last to the first.
   *
   * @param parent the block before the first of them; null if there is none
   */
  default void cachedRun(int slot, int blocks, @Nullable BlockHash parent) {
    throw new UnsupportedOperationException(this + " needs names");
  }

  /** Returns the number of blocks in the run of the slot. */
  default int run(int slot) {
    throw new UnsupportedOperationException(this + " needs names");
  }

  /** The run whose last block goes next; {@link #NONE} where a block with a name does. */
  default int firstRun() {
    return NONE;
  }

  /**
   * Gives up so many of the last blocks of the run, if it has as many; the slot is given up with
   * the first block.
   *
   * @return how many are left
   */
  default int shrinkRun(int slot, int blocks) {
    throw new UnsupportedOperationException(this + " needs names");
  }

  /** Nobody holds the slot any more: it may be evicted. */
  void cached(int slot);

  /** Somebody holds the cached slot again. */
  void held(int slot);

  /** Somebody holds the cached slot again to move its block, which is no use of it. */
  default void heldUnused(int slot) {
    held(slot);
  }

  /** Gives up the cached slot that goes next. Others may be asked for before its name is gone. */
  int evict();

  /**
   * Gives up a cached slot whose block nobody used in time, or answers {@link #NONE}; only where
   * there is such a limit.
   */
  default int expired() {
    return NONE;
  }

  /** The block of the held slot is gone. */
  void removed(int slot);

  /**
   * A request ends: its blocks are about to be released, unless they were never here. A policy may
   * learn from it; the blocks of a request that was not told of are like those of no request.
   */
  default void ended(EndedRequest end) {}

  /**
   * The caller of a request that has ended says only now whether its conversation goes on.
   *
   * @param last the last block of the request
   */
  default void updateHint(BlockHash last, ReturnHint hint) {}

  /**
   * Returns the probability that the block is asked for again while the pool might keep it, from 0
   * to 1, or NaN where nothing indicates it.
   */
  default double chance(BlockHash block) {
    return Double.NaN;
  }

  /**
   * Returns what was learnt, for {@link #restore} after a restart; empty where nothing is learnt.
   */
  default byte[] save() {
    return new byte[0];
  }

  /**
   * Takes over what an earlier policy had learnt. Tells whether it could be read; where not,
   * nothing has changed.
   */
  default boolean restore(byte[] saved) {
    return saved.length == 0;
  }

  /** Returns what the policy has learnt, if it is one that learns. */
  default Optional<LearnedStats> learned() {
    return Optional.empty();
  }
}
