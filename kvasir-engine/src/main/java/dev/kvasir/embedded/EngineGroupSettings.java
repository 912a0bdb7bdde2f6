package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.tiers.TieredCacheSettings;
import java.nio.file.Path;

/**
 * Number of engines, and the memory they have.
 *
 * @param engines number of engines, each with a device tier of its own
 * @param deviceBlocks number of blocks that each of them computes in
 * @param tieredCache tiers that all of them share
 * @param diskFolder folder of the blocks on disk, if there are any
 * @param eviction rule for which block goes first on every tier, one of {@link Eviction#NAMES}
 * @param limits further limits on every tier
 */
public record EngineGroupSettings(
    int engines,
    int deviceBlocks,
    TieredCacheSettings tieredCache,
    @Nullable Path diskFolder,
    EngineSettings engine,
    String eviction,
    EvictionLimits limits) {

  private static final int ENGINES_MAX = 64;

  /** Engines that evict in the default order, without limits. */
  public EngineGroupSettings(
      int engines,
      int deviceBlocks,
      TieredCacheSettings tieredCache,
      @Nullable Path diskFolder,
      EngineSettings engine) {
    this(
        engines,
        deviceBlocks,
        tieredCache,
        diskFolder,
        engine,
        Eviction.NAMES.getFirst(),
        EvictionLimits.NONE);
  }

  public EngineGroupSettings {
    if (engines < 1 || engines > ENGINES_MAX) {
      throw new IllegalArgumentException(engines + " engines, expected 1 to " + ENGINES_MAX);
    }
    if (deviceBlocks < 1) {
      throw new IllegalArgumentException(deviceBlocks + " blocks of engine memory");
    }
    if (tieredCache.hasDisk() && diskFolder == null) {
      throw new IllegalArgumentException("a disk tier needs a folder");
    }
  }

  /** Engines above host memory and a disk of so many blocks; 0 stands for none. */
  public static EngineGroupSettings of(
      int engines,
      int deviceBlocks,
      int hostBlocks,
      int diskBlocks,
      @Nullable Path diskFolder,
      EngineSettings engine) {
    var tieredCache = TieredCacheSettings.of(hostBlocks, diskBlocks);
    return new EngineGroupSettings(engines, deviceBlocks, tieredCache, diskFolder, engine);
  }
}
