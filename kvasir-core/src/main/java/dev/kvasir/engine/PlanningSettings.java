package dev.kvasir.engine;

/**
 * Settings for how steps are planned.
 *
 * @param nanosPerLook cost of planning where time is virtual, for each time that it looks at a
 *     sequence: a row, a candidate or a victim; 0 where planning takes its real time
 */
public record PlanningSettings(Mode mode, long nanosPerLook) {
  public static final PlanningSettings DEFAULT = of(Mode.REPAIR);

  public PlanningSettings {
    if (nanosPerLook < 0) {
      throw new IllegalArgumentException(
          "planning costs " + nanosPerLook + " ns a look, expected 0 or more");
    }
  }

  public static PlanningSettings of(Mode mode) {
    return new PlanningSettings(mode, 0);
  }

  /** When the next step is planned. */
  public enum Mode {
    /** After the step before it, on what that step brought about. */
    SEQUENTIAL,
    /**
     * While the step before it runs. The plan is thrown away if a command came or a sequence ended
     * meanwhile, or if a new one would decide otherwise, and replaced by a new one.
     */
    DISCARD,
    /**
     * While the step before it runs, on the state that the step is predicted to leave. If this came
     * otherwise, those that wait are gone through again with what was looked up for the plan.
     */
    REPAIR
  }

  /**
   * Statistics of how the steps so far were planned. Each step is one of the first three.
   *
   * @param hits steps that began from a plan made ahead, as it was
   * @param repairs steps that began from a plan made ahead, put right
   * @param misses steps that were planned after the step before them
   * @param planningNanos time that planning took
   * @param exposedNanos part of that time during which no step was running
   */
  public record Stats(long hits, long repairs, long misses, long planningNanos, long exposedNanos) {
    public static final Stats NONE = new Stats(0, 0, 0, 0, 0);

    /** The share of steps that began from a plan made ahead; 0 before the first. */
    public double aheadRate() {
      long all = hits + repairs + misses;
      return all == 0 ? 0 : (double) (hits + repairs) / all;
    }

    public Stats plus(Stats other) {
      return new Stats(
          hits + other.hits,
          repairs + other.repairs,
          misses + other.misses,
          planningNanos + other.planningNanos,
          exposedNanos + other.exposedNanos);
    }
  }
}
