package dev.kvasir.tiers;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.tiers.disk.Ack;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.host.LowerStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The disk that engines share.
 *
 * @param blocks how many; 0 for none
 * @param ack what is done before a block counts as stored
 * @param threads how many read and write
 * @param queueMax how many loads, and how many stores, may wait or run at a time
 * @param edge how blocks come there from the tier above
 */
public record DiskTier(
    int blocks, Ack ack, int threads, int queueMax, GuardSettings guard, EdgeSettings edge)
    implements TierConfig.Below {
  public static final DiskTier DEFAULT =
      new DiskTier(4_096, Ack.STORED, 4, 4_096, GuardSettings.DEFAULT, EdgeSettings.DEFAULT);

  public DiskTier {
    if (blocks < 0) {
      throw new IllegalArgumentException(blocks + " blocks on disk; 0 stands for none");
    }
  }

  @Override
  public Tier tier() {
    return Tier.DISK;
  }

  @Override
  public String place(@Nullable Path folder) {
    return "in " + folder + "; a restart finds them again";
  }

  /** A folder that cannot be opened costs the tier, and not the service: it is only a cache. */
  @Override
  public LowerStore open(Opening opening) throws IOException {
    var folder = Objects.requireNonNull(opening.folder(), "a disk tier needs a folder");
    int bytes = opening.memory().blockBytes();
    var settings =
        new DiskSettings(folder, blocks, bytes, opening.layout(), ack, threads, queueMax);
    try {
      return DiskStore.open(opening.loop(), opening.memory(), settings);
    } catch (RuntimeException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
