package dev.kvasir.engine;

/**
 * How steps are planned.
 *
 * @param nanosPerLook what planning costs where time is virtual, for each time that it looks at a
 *     sequence: a row, a candidate or a victim; 0 where planning takes its real time
 */
public record PlanningSettings(PlanningMode mode, long nanosPerLook) {
  public static final PlanningSettings DEFAULT = of(PlanningMode.REPAIR);

  public PlanningSettings {
    if (nanosPerLook < 0) {
      throw new IllegalArgumentException(
          "planning costs " + nanosPerLook + " ns a look, expected 0 or more");
    }
  }

  public static PlanningSettings of(PlanningMode mode) {
    return new PlanningSettings(mode, 0);
  }
}
