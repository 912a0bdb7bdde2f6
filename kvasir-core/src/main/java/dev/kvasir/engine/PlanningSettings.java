package dev.kvasir.engine;

/**
 * How steps are planned.
 *
 * @param nanosPerChange what planning costs where time is virtual, for each row, candidate and
 *     victim that a plan looks at; 0 where planning takes its real time
 */
public record PlanningSettings(PlanningMode mode, long nanosPerChange) {
  public static final PlanningSettings DEFAULT = of(PlanningMode.REPAIR);

  public PlanningSettings {
    if (nanosPerChange < 0) {
      throw new IllegalArgumentException(
          "planning costs " + nanosPerChange + " ns a change, expected 0 or more");
    }
  }

  public static PlanningSettings of(PlanningMode mode) {
    return new PlanningSettings(mode, 0);
  }
}
