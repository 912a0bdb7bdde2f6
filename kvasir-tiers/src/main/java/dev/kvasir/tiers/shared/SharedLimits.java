package dev.kvasir.tiers.shared;

import java.time.Duration;

/**
 * Limits on how much a shared tier does at a time, and for how long.
 *
 * @param threads how many batches are under way at a time
 * @param batchBlocks how many blocks a batch has at most
 * @param queueMax how many loads, and how many stores, may wait or run at a time
 * @param timeout when a batch that the server has not answered is given up
 * @param lookBatches how many batches of look-ups are under way at a time
 * @param lookQueueMax how many look-ups may wait for one of these
 */
public record SharedLimits(
    int threads,
    int batchBlocks,
    int queueMax,
    Duration timeout,
    int lookBatches,
    int lookQueueMax) {
  private static final int THREADS_MAX = 256;
  private static final int BATCH_MAX = 1024;
  private static final int LOOK_BATCHES_USUAL = 8;
  private static final int LOOK_QUEUE_USUAL = 1024;

  /** Most bytes of the heap that all batches together may take. */
  static final long BATCH_BYTES_MAX = 160 << 20;

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
    if (lookBatches < 1 || lookBatches > THREADS_MAX) {
      throw new IllegalArgumentException(
          lookBatches + " batches of look-ups, expected 1 to " + THREADS_MAX);
    }
    if (lookQueueMax < 1) {
      throw new IllegalArgumentException("a queue of " + lookQueueMax + " look-ups");
    }
  }

  /** The same with the usual limits for look-ups: 8 batches, and 1024 that wait. */
  public SharedLimits(int threads, int batchBlocks, int queueMax, Duration timeout) {
    this(threads, batchBlocks, queueMax, timeout, LOOK_BATCHES_USUAL, LOOK_QUEUE_USUAL);
  }

  public SharedLimits withBatch(int blocks) {
    return new SharedLimits(threads, blocks, queueMax, timeout, lookBatches, lookQueueMax);
  }

  public SharedLimits withTimeout(Duration limit) {
    return new SharedLimits(threads, batchBlocks, queueMax, limit, lookBatches, lookQueueMax);
  }

  /** Returns how many blocks of that size a batch has at most: fewer where they are large. */
  public int batchBlocks(int sealedBytes) {
    return Math.clamp(BATCH_BYTES_MAX / threads / sealedBytes, 1, batchBlocks);
  }
}
