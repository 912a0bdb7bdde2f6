package dev.kvasir.engine;

/**
 * A plan for the step after the one that runs, made on a prediction. What it decides about those
 * that wait holds if the step left the state that it takes for granted; what those that run get is
 * planned again in any case, since that takes no time.
 *
 * @param step number of the step that was running
 * @param running number of sequences in the batch
 * @param tokensLeft number of tokens that those in the batch leave for others
 * @param required number of blocks that must be available for those that join
 * @param waitingMax how many may wait without anybody among them who was not considered; none if
 *     nothing was planned
 * @param reorders number of changes to the queue other than at its end
 * @param version version of the KV memory
 */
record PreSchedule(
    SchedulerState state,
    long step,
    ScheduleDecision decision,
    int running,
    int tokensLeft,
    int required,
    int waitingMax,
    long reorders,
    long version,
    int fetching,
    int fetchable) {
  private static final int NOBODY = -1;

  /** Returns a plan that foresees that nobody joins, as most steps go, and is used for no other. */
  static PreSchedule steady(SchedulerState state) {
    return new PreSchedule(
        state, state.applied, ScheduleDecision.STEADY, 0, 0, 0, NOBODY, 0, 0, 0, 0);
  }

  /** Returns whether it was made for the step that comes now, by the scheduler of this state. */
  boolean isFor(SchedulerState other) {
    return state == other && step == state.applied && step == state.completed;
  }

  /**
   * Returns whether a new plan would decide the same about those that wait; where that is not sure,
   * false. Takes as long for many as for few.
   *
   * @param runningNow number of sequences in the batch
   * @param tokens number of tokens that are left for others
   * @param blocks number of blocks that are available for others
   */
  boolean holds(int runningNow, int tokens, int blocks) {
    return running == runningNow
        && tokensLeft == tokens
        && required <= blocks
        && version == state.matches.version()
        && state.waiting.size() <= waitingMax
        && reorders == state.waiting.reorders()
        && fetching == state.fetching
        && fetchable == state.kv.fetching().fetchable()
        // Whoever was turned away for lack of memory must be considered again.
        && state.blocked == null
        && decision.blocked() == null
        && decision.givenUp().isEmpty();
  }
}
