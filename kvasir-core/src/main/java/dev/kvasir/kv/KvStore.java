package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The KV memory of an engine, with any tiers behind it.
 *
 * <p>Queries change nothing, so an engine may plan ahead and discard its plan. A plan that respects
 * these numbers can be carried out.
 */
public interface KvStore {
  int blockTokens();

  /** All blocks of the engine's memory; slower tiers do not count. */
  int total();

  /**
   * Returns the number of blocks that can be had now: the free ones, and the cached ones that are
   * not held.
   */
  int available();

  /** Returns the part of the first {@code blocksMax} blocks that needs no computing. */
  KvMatch match(BlockNames names, int blocksMax);

  /**
   * Reports changes from now on to a caller that keeps answers of {@link #match}: they hold as long
   * as none of the blocks that they rest on changed.
   *
   * @return false if the store does not report changes; then no answer may be kept
   */
  default boolean watch(KvChanges changes) {
    return false;
  }

  /** Returns whether the block is in the engine's memory. */
  boolean has(BlockHash name);

  /**
   * Holds the first {@code blocks} blocks, as many as {@link #match} found or fewer; null if one of
   * them is gone by now.
   */
  @Nullable
  KvSpan open(BlockNames names, int blocks);

  /** Returns how many more blocks would be available if all of the spans were released. */
  int reclaimable(List<KvSpan> spans);

  /**
   * Returns the means to bring up blocks from slower tiers; a store without such tiers brings up
   * nothing.
   */
  default Fetching fetching() {
    return Fetching.NOTHING;
  }

  /** Brings up blocks that {@link #match} found below the engine's memory. */
  interface Fetching {
    /** Fetching without slower tiers: no match reports blocks there, and none can be requested. */
    Fetching NOTHING =
        new Fetching() {
          @Override
          public int fetchable() {
            return 0;
          }

          @Override
          public void fetch(BlockNames names, int blocks, Consumer<KvSpan> done) {
            throw new IllegalStateException(
                "no tier lies below, yet " + blocks + " blocks are fetched");
          }
        };

    /** Returns the number of blocks that can still be brought up besides those on their way. */
    int fetchable();

    /**
     * Brings up the first {@code blocks} blocks as far as they lie on slower tiers. The answer
     * comes later, once, with what is there then: perhaps nothing.
     */
    void fetch(BlockNames names, int blocks, Consumer<KvSpan> done);
  }

  /** Drops the blocks that nobody used in time, on all tiers. */
  default void expire() {}

  /** Returns what limits on top of eviction have done on each tier, where there are some. */
  default Map<Tier, EvictionLimits.Stats> limits() {
    return new EnumMap<>(Tier.class);
  }

  /** Updates the return hint of the request that ended with that block. */
  default void updateHint(BlockHash last, ReturnHint hint) {}

  /**
   * Returns what eviction has learnt on each tier, where it learns, from the engine's memory down.
   */
  default Map<Tier, LearnedStats> learned() {
    return new EnumMap<>(Tier.class);
  }

  /** Blocks held instead of computed, by all spans so far. */
  long hits();

  /** Blocks taken to be computed, by all spans so far. */
  long misses();

  /** The share of blocks that needed no computing; 0 before the first. */
  default double hitRate() {
    long all = hits() + misses();
    return all == 0 ? 0 : (double) hits() / all;
  }
}
