package dev.kvasir.live.store;

import java.time.Duration;

/**
 * How much a shared tier does at a time, and for how long.
 *
 * @param threads how many batches are under way at a time
 * @param batchBlocks how many blocks a batch has at most
 * @param queueMax how many loads, and how many stores, may wait or run at a time
 * @param timeout when a batch that the server has not answered is given up
 */
public record SharedLimits(int threads, int batchBlocks, int queueMax, Duration timeout) {
  private static final int THREADS_MAX = 256;
  private static final int BATCH_MAX = 1024;

  /** What all batches may take of the heap. */
  private static final long BATCH_BYTES_MAX = 64 << 20;

  public SharedLimits {
    if (threads < 1 || threads > THREADS_MAX) {
      throw new IllegalArgumentException(threads + " threads, expected 1 to " + THREADS_MAX);
    }
    if (batchBlocks < 1 || batchBlocks > BATCH_MAX) {
      throw new IllegalArgumentException(
          "batches of " + batchBlocks + " blocks, expected 1 to " + BATCH_MAX);
    }
    if (queueMax < 1) throw new IllegalArgumentException("a queue of " + queueMax);
    if (!timeout.isPositive()) throw new IllegalArgumentException("a timeout of " + timeout);
  }

  public SharedLimits withBatch(int blocks) {
    return new SharedLimits(threads, blocks, queueMax, timeout);
  }

  public SharedLimits withThreads(int count) {
    return new SharedLimits(count, batchBlocks, queueMax, timeout);
  }

  public SharedLimits withTimeout(Duration limit) {
    return new SharedLimits(threads, batchBlocks, queueMax, limit);
  }

  /** How many blocks of that size a batch has at most: fewer where they are large. */
  public int batchBlocks(int sealedBytes) {
    return Math.clamp(BATCH_BYTES_MAX / sealedBytes, 1, batchBlocks);
  }
}
