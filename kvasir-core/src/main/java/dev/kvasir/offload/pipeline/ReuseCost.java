package dev.kvasir.offload.pipeline;

import java.time.Duration;

/**
 * What it costs to bring blocks back, and what to compute them again.
 *
 * @param loadLatency for any number of blocks
 * @param loadPerBlock for each block on top
 * @param recomputePerBlock for each block
 */
public record ReuseCost(Duration loadLatency, Duration loadPerBlock, Duration recomputePerBlock) {
  /** Nothing costs anything to load, and everything to compute. */
  public static final ReuseCost FREE =
      new ReuseCost(Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1));

  public ReuseCost {
    if (loadLatency.isNegative() || loadPerBlock.isNegative() || recomputePerBlock.isNegative()) {
      throw new IllegalArgumentException(
          "latency " + loadLatency + ", load " + loadPerBlock + ", compute " + recomputePerBlock);
    }
  }

  public Duration load(int blocks) {
    return loadLatency.plus(loadPerBlock.multipliedBy(blocks));
  }

  public Duration recompute(int blocks) {
    return recomputePerBlock.multipliedBy(blocks);
  }

  /** Whether there is a number of blocks that are quicker to bring back than to compute again. */
  public boolean paysOff() {
    return loadPerBlock.compareTo(recomputePerBlock) < 0;
  }

  /** Whether bringing that many blocks back is quicker than computing them again. */
  public boolean worthLoading(int blocks) {
    return load(blocks).compareTo(recompute(blocks)) < 0;
  }
}
