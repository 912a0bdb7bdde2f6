package dev.kvasir.offload;

import java.time.Duration;

/**
 * How one edge of the ladder moves blocks.
 *
 * @param policyTimeout how long a policy may think about one block
 * @param sweepInterval how soon after a cancellation the queues are swept
 * @param transfersMax batches that are moved at the same time
 */
public record PipelineSettings(
    BatchSettings batch,
    Duration policyTimeout,
    Duration sweepInterval,
    int transfersMax,
    PipelineLimits limits) {
  public static final PipelineSettings DEFAULT =
      new PipelineSettings(
          BatchSettings.DEFAULT,
          Duration.ofMillis(100),
          Duration.ofMillis(10),
          1,
          PipelineLimits.DEFAULT);

  public PipelineSettings {
    Deadlines.requirePositive("policyTimeout", policyTimeout);
    Deadlines.requirePositive("sweepInterval", sweepInterval);
    if (transfersMax < 1) {
      throw new IllegalArgumentException(transfersMax + " transfers at a time, expected 1 or more");
    }
  }
}
