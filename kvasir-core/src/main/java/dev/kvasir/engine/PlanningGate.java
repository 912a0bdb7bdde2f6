package dev.kvasir.engine;

/**
 * Turns planning ahead off where it loses: where what is left to do between two steps takes longer
 * with a plan made ahead than without one.
 *
 * <p>Now and then a step is planned the other way, so that both are known.
 */
final class PlanningGate {
  private static final int SAMPLE_STEPS = 512;
  private static final double WEIGHT = 1.0 / 16;
  private static final double UNKNOWN = -1;

  /** What planning ahead may lose before it is turned off: less is noise. */
  private static final double TOLERANCE = 1.05;

  private double aheadNanos = UNKNOWN;
  private double afterNanos = UNKNOWN;
  private long steps;

  /** Whether to plan the next step ahead. */
  boolean opens() {
    if (aheadNanos == UNKNOWN || afterNanos == UNKNOWN) return true;
    boolean wins = aheadNanos <= afterNanos * TOLERANCE;
    boolean isFree = aheadNanos == 0 && afterNanos == 0;
    boolean samples = ++steps % SAMPLE_STEPS == 0 && !isFree;
    return wins != samples;
  }

  /** A step with a plan made ahead waited that long for its batch. */
  void ahead(long nanos) {
    aheadNanos = blend(aheadNanos, nanos);
  }

  /** A step without one waited that long. */
  void after(long nanos) {
    afterNanos = blend(afterNanos, nanos);
  }

  private static double blend(double average, long nanos) {
    return average == UNKNOWN ? nanos : average + (nanos - average) * WEIGHT;
  }
}
