package dev.kvasir.engine;

/**
 * A plan made ahead, put right.
 *
 * @param decision what planning anew would decide
 * @param outcome what had to be done for it
 * @param changes in how many places it differs from the plan
 */
public record Repaired(ScheduleDecision decision, Outcome outcome, int changes) {
  /** What had to be done to a plan. */
  public enum Outcome {
    /** Nothing. */
    CLEAN,
    /** It was changed where something came otherwise. */
    REPAIRED,
    /** The batch was gone through again. */
    RECOMPUTED
  }
}
