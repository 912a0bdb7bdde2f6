package dev.kvasir.kv;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;

/**
 * The settings of one tier's pool.
 *
 * @param blocks how many blocks it has
 * @param blockTokens how many tokens a block holds
 * @param duplicates what happens to a second copy of a registered block
 * @param release what happens to a block when its last holder releases it
 * @param eviction which cached block goes first
 */
public record PoolSettings(
    Tier tier,
    int blocks,
    int blockTokens,
    Duplicates duplicates,
    Release release,
    Eviction eviction) {

  /** The most blocks a pool can have. */
  public static final int BLOCKS_MAX = 1 << 27;

  /** Treatment of a second copy of a block that is registered already. */
  public enum Duplicates {
    /** It stays until it is released, and keeps the first copy from being evicted. */
    ALLOW,
    /** It is given back at once, and the first copy is held in its place. */
    REJECT
  }

  /** Treatment of a registered block when its last holder releases it. */
  public enum Release {
    /** It stays to be found again, until its room is needed. */
    CACHE,
    /** It is forgotten. */
    RESET
  }

  public PoolSettings {
    if (blocks < 1 || blocks > BLOCKS_MAX) {
      throw new IllegalArgumentException(
          tier + " pool of " + blocks + " blocks, expected 1 to " + BLOCKS_MAX);
    }
    if (blockTokens < 1) {
      throw new IllegalArgumentException(
          tier + " pool with " + blockTokens + " tokens a block, expected at least 1");
    }
  }

  /** The usual settings: second copies are given back, released blocks stay, leaves go first. */
  public static PoolSettings of(Tier tier, int blocks, int blockTokens) {
    return new PoolSettings(
        tier, blocks, blockTokens, Duplicates.REJECT, Release.CACHE, Eviction.lineage());
  }

  public PoolSettings with(Duplicates duplicates) {
    return new PoolSettings(tier, blocks, blockTokens, duplicates, release, eviction);
  }

  public PoolSettings with(Release release) {
    return new PoolSettings(tier, blocks, blockTokens, duplicates, release, eviction);
  }

  public PoolSettings with(Eviction eviction) {
    return new PoolSettings(tier, blocks, blockTokens, duplicates, release, eviction);
  }
}
