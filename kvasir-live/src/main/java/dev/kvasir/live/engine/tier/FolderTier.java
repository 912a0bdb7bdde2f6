package dev.kvasir.live.engine.tier;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.live.store.LowerStore;
import dev.kvasir.live.store.shared.FolderBlocks;
import dev.kvasir.live.store.shared.SealSettings;
import dev.kvasir.live.store.shared.SharedLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A folder of a file system that engines share with those of other machines, in place of a Redis.
 *
 * @param blocks how many this process believes to be there at most
 * @param path where the file system is mounted
 * @param limits how much is done at a time
 * @param seal how blocks are protected there
 * @param lookTime how long a prompt waits to hear what others have stored; 0 for not asking
 * @param kept how long whoever cleans the folder leaves a block there
 * @param guard when it is left alone
 * @param edge how blocks come there from the tier above
 */
public record FolderTier(
    int blocks,
    String path,
    SharedLimits limits,
    SealSettings seal,
    Duration lookTime,
    Duration kept,
    GuardSettings guard,
    EdgeSettings edge)
    implements TierConfig.Shared {
  public static final FolderTier DEFAULT =
      new FolderTier(
          65_536,
          "/mnt/kvasir",
          new SharedLimits(4, 32, 1024, Duration.ofSeconds(2)),
          SealSettings.CHECKSUM,
          Duration.ofMillis(50),
          Duration.ofDays(1),
          GuardSettings.DEFAULT,
          EdgeSettings.DEFAULT);

  public FolderTier {
    if (blocks < 1) throw new IllegalArgumentException("a folder tier of " + blocks + " blocks");
    if (lookTime.isNegative()) throw new IllegalArgumentException("a wait of " + lookTime);
  }

  @Override
  public Tier tier() {
    return Tier.REMOTE;
  }

  @Override
  public FolderTier withBlocks(int count) {
    return new FolderTier(count, path, limits, seal, lookTime, kept, guard, edge);
  }

  @Override
  public String place(@Nullable Path folder) {
    return "known in " + path;
  }

  @Override
  public LowerStore open(Opening opening) throws IOException {
    return FolderBlocks.open(
        opening.loop(), opening.memory(), Path.of(path), limits, opening.seals(seal));
  }

  @Override
  public FolderTier with(EdgeSettings other) {
    return new FolderTier(blocks, path, limits, seal, lookTime, kept, guard, other);
  }
}
