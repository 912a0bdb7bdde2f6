package dev.kvasir.engine;

/** A plan for the step after the one that runs, and what it takes for granted. */
public final class PreSchedule {
  private final ScheduleDecision decision;
  private final RunningPlan rows;
  private final int running;
  private final int available;

  PreSchedule(ScheduleDecision decision, RunningPlan rows, Outlook outlook) {
    this.decision = decision;
    this.rows = rows;
    this.running = outlook.running;
    this.available = outlook.available;
  }

  public ScheduleDecision decision() {
    return decision;
  }

  /** What those that run get. */
  RunningPlan rows() {
    return rows;
  }

  /** How many sequences the batch will have. */
  int running() {
    return running;
  }

  /** How many blocks can be had then. */
  int available() {
    return available;
  }
}
