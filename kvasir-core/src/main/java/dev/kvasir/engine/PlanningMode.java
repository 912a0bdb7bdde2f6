package dev.kvasir.engine;

/** When the next step is planned. */
public enum PlanningMode {
  /** After the step before it, on what that step brought about. */
  SEQUENTIAL,
  /**
   * While the step before it runs. The plan is thrown away if a command came or a sequence ended
   * meanwhile, and made anew.
   */
  DISCARD,
  /**
   * While the step before it runs, on what that step will bring about if nobody is surprised. What
   * came otherwise is put right in the plan.
   */
  REPAIR
}
