package dev.kvasir.engine;

import dev.kvasir.Nullable;
import java.util.List;

/** A plan for the step after the one that runs, and what it takes for granted. */
public final class PreSchedule {
  private final SchedulerState state;
  private final ScheduleDecision decision;

  /** Null where all that decode get a token and nothing else is done, as in most steps. */
  private final ScheduleDecision.@Nullable RunningPlan rows;

  private final int tokensLeft;
  private final int taken;
  private final int running;
  private final int available;
  private final int required;
  private final int waitingMax;
  private final long step;
  private final long surprises;
  private final long reorders;
  private final long forgotten;
  private final int fetching;
  private final int fetchable;

  /**
   * A plan as it was made.
   *
   * @param running how many sequences the batch will have
   * @param available how many blocks are available then
   * @param required how many blocks must be there for all that is planned
   * @param waitingMax how many may wait without anybody among them who was not considered; the
   *     greatest number if the plan was complete before the end of the queue
   * @param forgotten how many look-ups were forgotten when the plan was begun: what is forgotten
   *     while it is made may be what it rests on
   */
  PreSchedule(
      SchedulerState state,
      int running,
      int available,
      ScheduleDecision decision,
      ScheduleDecision.RunningPlan rows,
      int required,
      int waitingMax,
      long forgotten) {
    this(
        state,
        running,
        available,
        decision,
        rows.isPlain() ? null : rows,
        rows.tokensLeft(),
        available - rows.available(),
        required,
        waitingMax,
        forgotten);
  }

  /** A plan by which all that decode get a token and take so many blocks, and nobody waits. */
  static PreSchedule steady(
      SchedulerState state, int running, int available, int tokensLeft, int taken) {
    long forgotten = state.matches.forgotten();
    return new PreSchedule(
        state,
        running,
        available,
        ScheduleDecision.STEADY,
        null,
        tokensLeft,
        taken,
        0,
        0,
        forgotten);
  }

  private PreSchedule(
      SchedulerState state,
      int running,
      int available,
      ScheduleDecision decision,
      ScheduleDecision.@Nullable RunningPlan rows,
      int tokensLeft,
      int taken,
      int required,
      int waitingMax,
      long forgotten) {
    this.state = state;
    this.decision = decision;
    this.rows = rows;
    this.tokensLeft = tokensLeft;
    this.taken = taken;
    this.running = running;
    this.available = available;
    this.required = required;
    this.waitingMax = waitingMax;
    this.step = state.applied;
    this.surprises = state.surprises;
    this.reorders = state.waiting.reorders();
    this.forgotten = forgotten;
    this.fetching = state.fetching;
    this.fetchable = state.kv.fetching().fetchable();
  }

  public ScheduleDecision decision() {
    return decision;
  }

  /** Returns the plan for the running sequences. */
  ScheduleDecision.RunningPlan rows() {
    return rows == null
        ? new ScheduleDecision.RunningPlan(
            tokensLeft, available - taken, List.of(), List.of(), List.of(), List.of())
        : rows;
  }

  /** Returns the number of sequences that the batch will have. */
  int running() {
    return running;
  }

  /** Returns the number of blocks that will be available. */
  int available() {
    return available;
  }

  /** Returns the number of blocks that the running sequences take. */
  int taken() {
    return taken;
  }

  /** Returns whether it was made for the step that comes now, by the scheduler of this state. */
  boolean isFor(SchedulerState other) {
    return state == other && step == state.applied && step == state.completed;
  }

  /**
   * Returns whether a new plan would decide the same. What is kept of the waiting sequences must be
   * up to date. Takes as long for many sequences as for few; where it is not sure, it returns
   * false.
   */
  boolean isUnchanged() {
    int availableNow = state.kv.available();
    return hasSameRows(state.running.size(), availableNow)
        && hasSameQueue()
        && hasRoom(availableNow);
  }

  /** Returns whether the running sequences get what was planned, and there is memory for it. */
  boolean hasSameRows(int runningNow, int availableNow) {
    return surprises == state.surprises
        && running == runningNow
        && (rows == null || !rows.isAtOthersCost())
        && taken <= availableNow;
  }

  private boolean hasSameQueue() {
    return reorders == state.waiting.reorders()
        && state.waiting.size() <= waitingMax
        && forgotten == state.matches.forgotten()
        && fetching == state.fetching
        && fetchable == state.kv.fetching().fetchable();
  }

  /** A sequence that was turned away for lack of memory must be considered again. */
  private boolean hasRoom(int availableNow) {
    return state.blocked == null
        && decision.blocked() == null
        && decision.givenUp().isEmpty()
        && required <= availableNow;
  }
}
