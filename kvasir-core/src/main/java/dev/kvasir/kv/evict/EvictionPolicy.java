package dev.kvasir.kv.evict;

import dev.kvasir.kv.name.TokenBlock;
import java.util.Optional;

/**
 * Decides which cached block goes first when a pool needs room.
 *
 * <p>A pool tells its policy about each of its slots, in this order:
 *
 * <pre>
 *   registered --> cached <--> held
 *        |            |          |
 *     removed      evicted    removed
 * </pre>
 *
 * A slot is held when it is registered. Duplicates of a block are never told of.
 */
public interface EvictionPolicy {
  /** What {@link #evict} answers when nothing is cached. */
  int NONE = -1;

  /** The slot holds this block now. */
  void registered(int slot, TokenBlock block);

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

  /** The block of the held slot is gone. */
  void removed(int slot);

  /**
   * A request ends: its blocks are about to be released, unless they were never here. A policy may
   * learn from it; the blocks of a request that was not told of are like those of no request.
   */
  default void ended(RequestEnd end) {}

  /** What the policy has learnt, if it is one that learns. */
  default Optional<LearnedStats> learned() {
    return Optional.empty();
  }
}
