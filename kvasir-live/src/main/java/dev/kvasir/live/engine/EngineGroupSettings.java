package dev.kvasir.live.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.live.engine.tier.TieredCacheSettings;
import java.nio.file.Path;

/**
 * How many engines there are, and how much memory they have.
 *
 * @param engines how many, each with a device tier of its own
 * @param deviceBlocks how many blocks each of them computes in
 * @param tieredCache what all of them share
 * @param diskFolder where the blocks on disk lie, if there are any
 * @param eviction which block goes first on every tier, one of {@link Eviction#NAMES}
 * @param limits what holds on every tier besides
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
