package dev.kvasir.sim.blis;

import dev.kvasir.engine.EngineSettings;

/**
 * Settings of a BLIS cluster.
 *
 * @param edition which state of BLIS to be like
 */
public record BlisSettings(
    int instances,
    int blocks,
    int blockTokens,
    EngineSettings engine,
    long horizonMicros,
    Edition edition,
    ClusterTimes times) {

  /** The states of BLIS that runs are recorded of. */
  public enum Edition {
    /** The last one with a linear latency model: a preempted request keeps its first TTFT. */
    BLACKBOX,
    /** The one after it. */
    CURRENT
  }

  /**
   * Times of the way to an instance, and limits on the age of the cluster's view of the instances.
   *
   * @param snapshotMicros how old queue depth, batch size and memory use may be
   * @param cacheSignalMicros how old the view of what they have cached may be
   */
  public record ClusterTimes(
      long admissionMicros, long routingMicros, long snapshotMicros, long cacheSignalMicros) {
    public static final ClusterTimes DEFAULT = new ClusterTimes(0, 0, 50_000, 50_000);
  }

  public BlisSettings {
    if (instances < 1 || blocks < 1 || blockTokens < 1 || horizonMicros < 1) {
      throw new IllegalArgumentException(
          "%s instances of %s blocks of %s tokens until %s us; each must be at least 1"
              .formatted(instances, blocks, blockTokens, horizonMicros));
    }
  }
}
