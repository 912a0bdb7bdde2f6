package dev.kvasir.offload.pipeline;

import java.time.Duration;

/**
 * The cost of loading blocks, and of computing them again.
 *
 * @param loadLatency for any number of blocks
 * @param loadPerBlock for each block on top
 * @param recomputePerBlock for each block
 */
public record ReuseCost(Duration loadLatency, Duration loadPerBlock, Duration recomputePerBlock) {
  /** Loading is free. */
  public static final ReuseCost FREE =
      new ReuseCost(Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1));

  public ReuseCost {
    if (loadLatency.isNegative() || loadPerBlock.isNegative() || recomputePerBlock.isNegative()) {
      throw new IllegalArgumentException(
          "latency " + loadLatency + ", load " + loadPerBlock + ", compute " + recomputePerBlock);
    }
  }

  /** Returns whether loading is faster than computing for some number of blocks. */
  public boolean paysOff() {
    return loadPerBlock.compareTo(recomputePerBlock) < 0;
  }
}
