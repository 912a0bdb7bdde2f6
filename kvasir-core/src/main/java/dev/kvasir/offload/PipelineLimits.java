package dev.kvasir.offload;

import java.time.Duration;

/**
 * What keeps a pipeline from growing or waiting without end.
 *
 * @param queueBlocksMax blocks that may wait before their upgrade; more are refused
 * @param deadline how long a block may wait before its upgrade
 * @param transferTimeout how long one transfer may take before its blocks count as failed
 * @param retryInterval how long to wait when the tier below has no room just now
 */
public record PipelineLimits(
    int queueBlocksMax, Duration deadline, Duration transferTimeout, Duration retryInterval) {
  public static final PipelineLimits DEFAULT =
      new PipelineLimits(
          8192, Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofMillis(5));

  public PipelineLimits {
    if (queueBlocksMax < 1) {
      throw new IllegalArgumentException("queue of " + queueBlocksMax + " blocks, expected 1 up");
    }
    Deadlines.requirePositive("deadline", deadline);
    Deadlines.requirePositive("transferTimeout", transferTimeout);
    Deadlines.requirePositive("retryInterval", retryInterval);
  }
}
