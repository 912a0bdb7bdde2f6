package dev.kvasir.offload.pipeline;

import dev.kvasir.offload.store.Deadlines;
import java.time.Duration;

/**
 * The settings of one pipeline.
 *
 * @param policyTimeout how long a policy may think about one block
 * @param sweepInterval how soon after a cancellation the queues are swept
 * @param transfersMax batches that are moved at the same time
 */
public record PipelineSettings(
    Batching batch,
    Duration policyTimeout,
    Duration sweepInterval,
    int transfersMax,
    Limits limits) {
  public static final PipelineSettings DEFAULT =
      new PipelineSettings(
          Batching.DEFAULT, Duration.ofMillis(100), Duration.ofMillis(10), 1, Limits.DEFAULT);

  public PipelineSettings {
    Deadlines.requirePositive("policyTimeout", policyTimeout);
    Deadlines.requirePositive("sweepInterval", sweepInterval);
    if (transfersMax < 1) {
      throw new IllegalArgumentException(transfersMax + " transfers at a time, expected 1 or more");
    }
  }

  /**
   * The bounds on the size of a pipeline and on waiting in it.
   *
   * @param queueBlocksMax blocks that may wait before their upgrade; more are refused
   * @param deadline how long a block may wait before its upgrade
   * @param transferTimeout how long one transfer may take before its blocks count as failed
   * @param retryInterval how long to wait when the tier below has no room just now
   */
  public record Limits(
      int queueBlocksMax, Duration deadline, Duration transferTimeout, Duration retryInterval) {
    public static final Limits DEFAULT =
        new Limits(8192, Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofMillis(5));

    public Limits {
      if (queueBlocksMax < 1) {
        throw new IllegalArgumentException("queue of " + queueBlocksMax + " blocks, expected 1 up");
      }
      Deadlines.requirePositive("deadline", deadline);
      Deadlines.requirePositive("transferTimeout", transferTimeout);
      Deadlines.requirePositive("retryInterval", retryInterval);
    }
  }

  /**
   * Settings for the grouping of blocks for transfer.
   *
   * @param blocksMin a batch this large need not wait for more
   * @param blocksMax no batch is larger
   * @param flushInterval a smaller batch goes after this time
   */
  public record Batching(int blocksMin, int blocksMax, Duration flushInterval) {
    public static final Batching DEFAULT = new Batching(8, 64, Duration.ofMillis(10));

    public Batching {
      if (blocksMin < 1 || blocksMax < blocksMin) {
        throw new IllegalArgumentException(
            "batches of " + blocksMin + " to " + blocksMax + " blocks, expected 1 or more, rising");
      }
      Deadlines.requirePositive("flushInterval", flushInterval);
    }

    /** The same for a tier with so few blocks, where a larger batch would never fit. */
    Batching within(int blocks) {
      return new Batching(Math.min(blocksMin, blocks), Math.min(blocksMax, blocks), flushInterval);
    }
  }
}
