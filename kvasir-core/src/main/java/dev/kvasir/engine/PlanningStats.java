package dev.kvasir.engine;

/**
 * How the plans for the steps so far were come by. Each step is one of the first three.
 *
 * @param hits steps that began from a plan made ahead, as it was
 * @param repairs steps that began from a plan made ahead, put right
 * @param misses steps that were planned after the step before them
 * @param planningNanos what planning took
 * @param exposedNanos how much of that no step ran beside
 */
public record PlanningStats(
    long hits, long repairs, long misses, long planningNanos, long exposedNanos) {
  public static final PlanningStats NONE = new PlanningStats(0, 0, 0, 0, 0);

  /** The share of steps that began from a plan made ahead; 0 before the first. */
  public double aheadRate() {
    long all = hits + repairs + misses;
    return all == 0 ? 0 : (double) (hits + repairs) / all;
  }

  public PlanningStats plus(PlanningStats other) {
    return new PlanningStats(
        hits + other.hits,
        repairs + other.repairs,
        misses + other.misses,
        planningNanos + other.planningNanos,
        exposedNanos + other.exposedNanos);
  }
}
