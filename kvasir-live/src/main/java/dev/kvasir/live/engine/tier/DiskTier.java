package dev.kvasir.live.engine.tier;

import dev.kvasir.live.store.disk.Ack;
import dev.kvasir.live.store.disk.DiskSettings;
import java.nio.file.Path;

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
    int blocks, Ack ack, int threads, int queueMax, GuardSettings guard, EdgeSettings edge) {
  public static final DiskTier DEFAULT =
      new DiskTier(4_096, Ack.STORED, 4, 1_024, GuardSettings.DEFAULT, EdgeSettings.DEFAULT);

  public DiskTier {
    if (blocks < 0) {
      throw new IllegalArgumentException(blocks + " blocks on disk; 0 stands for none");
    }
  }

  public DiskTier withBlocks(int count) {
    return new DiskTier(count, ack, threads, queueMax, guard, edge);
  }

  DiskSettings settings(Path folder, int blockBytes, long layout) {
    return new DiskSettings(folder, blocks, blockBytes, layout, ack, threads, queueMax);
  }

  /** The same with so many threads, and room for so many loads and stores that wait. */
  public DiskTier with(int otherThreads, int otherQueueMax) {
    return new DiskTier(blocks, ack, otherThreads, otherQueueMax, guard, edge);
  }

  /** The same, but that blocks come there in another way. */
  public DiskTier with(EdgeSettings other) {
    return new DiskTier(blocks, ack, threads, queueMax, guard, other);
  }
}
