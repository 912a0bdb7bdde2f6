package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.time.EventLoop;
import java.util.function.LongSupplier;

/**
 * Comes by the plan for each step, ahead or after, and counts what that took.
 *
 * <p>A plan is made on the engine's loop while the step runs elsewhere. Should the step end first,
 * its end waits in the loop until the plan is there: the plan is joined, never begun again.
 */
final class StepPlans {
  private final EventLoop loop;
  private final Scheduler scheduler;
  private final PlanningSettings.Mode mode;
  private final long nanosPerLook;
  private final LongSupplier nanos;
  private final PlanningGate gate = new PlanningGate();

  private @Nullable PreSchedule ahead;
  private boolean disturbed;

  /** Flag that is true if the step that runs could have had a successor planned, and had not. */
  private boolean declined;

  private long begunNanos;
  private long measuredNanos;
  private long readyNanos;
  private long exposedNow;

  private long hits;
  private long repairs;
  private long misses;
  private long planningNanos;
  private long exposedNanos;

  StepPlans(EventLoop loop, Scheduler scheduler, EngineSettings settings, LongSupplier nanos) {
    this.loop = loop;
    this.scheduler = scheduler;
    this.mode = settings.planning().mode();
    this.nanosPerLook = settings.planning().nanosPerLook();
    this.nanos = nanos;
  }

  /** Plans the next step, and returns its batch, committed to. */
  Batch next() {
    var plan = ahead;
    ahead = null;
    exposedNow = 0;
    long before = nanos.getAsLong();
    return plan == null ? plannedAfter(before) : plannedAhead(plan, before);
  }

  private Batch plannedAfter(long before) {
    boolean compares = declined;
    declined = false;
    var batch = scheduler.schedule();
    long cost = cost(before);
    if (batch.isEmpty()) return batch;
    // What an engine does that has just stood still says nothing of one that is at work.
    if (compares) gate.after(cost);
    misses++;
    spend(cost);
    return batch;
  }

  private Batch plannedAhead(PreSchedule plan, long before) {
    long joined = joinedNanos();
    var repaired = mode == PlanningSettings.Mode.DISCARD ? kept(plan) : scheduler.repair(plan);
    long unopened = scheduler.unopened();
    var batch = scheduler.apply(repaired.decision());
    long cost = cost(before);
    if (batch.isEmpty()) return batch;
    gate.ahead(cost + joined);
    if (scheduler.unopened() > unopened) misses++;
    else count(repaired.outcome());
    spend(cost);
    expose(joined);
    return batch;
  }

  /** Keeps the plan as it is, or discards it and plans anew. */
  private Scheduler.Repaired kept(PreSchedule plan) {
    if (disturbed) return scheduler.recomputed();
    var repaired = scheduler.repair(plan);
    boolean isKept = repaired.outcome() == Scheduler.Repaired.Outcome.CLEAN;
    return isKept ? repaired : scheduler.recomputed();
  }

  private void count(Scheduler.Repaired.Outcome outcome) {
    switch (outcome) {
      case CLEAN -> hits++;
      case REPAIRED -> repairs++;
      case RECOMPUTED -> misses++;
    }
  }

  /** The step runs: time to plan the one after it. */
  void begin(Batch batch) {
    if (mode == PlanningSettings.Mode.SEQUENTIAL) return;
    declined = !gate.opens();
    if (declined) return;
    begunNanos = loop.nanos();
    long before = nanos.getAsLong();
    disturbed = false;
    ahead = scheduler.foresee(batch);
    measuredNanos = 0;
    readyNanos = begunNanos;
    planned(before);
  }

  /** A sequence came: if a plan is there or under way, this is the time to look it up. */
  void arrived(Sequence sequence) {
    disturb();
    if (ahead == null || mode != PlanningSettings.Mode.REPAIR) return;
    long before = nanos.getAsLong();
    scheduler.prepare(sequence);
    planned(before);
  }

  /** Counts what was planned while the step ran. */
  private void planned(long before) {
    long measured = nanos.getAsLong() - before;
    long virtual = nanosPerLook * scheduler.drainWork();
    measuredNanos += measured;
    readyNanos = Math.max(readyNanos, loop.nanos()) + virtual;
    planningNanos += measured + virtual;
  }

  /** Something happened after which the plan is discarded where it is not repaired. */
  void disturb() {
    disturbed = true;
  }

  /**
   * Returns how long the batch just planned could not run for want of its plan, in virtual time.
   */
  long virtualDelayNanos() {
    return nanosPerLook == 0 ? 0 : exposedNow;
  }

  PlanningSettings.Stats stats() {
    return new PlanningSettings.Stats(hits, repairs, misses, planningNanos, exposedNanos);
  }

  /**
   * Returns how long the step was over before its successor was planned. In real time, nothing
   * observes the end of the step; but if the time that passed is about what planning took, planning
   * is taken to be the cause.
   */
  private long joinedNanos() {
    long passed = loop.nanos() - begunNanos;
    boolean isJoined = measuredNanos > 0 && passed < measuredNanos + measuredNanos / 8;
    return isJoined ? measuredNanos : Math.max(0, readyNanos - loop.nanos());
  }

  private long cost(long before) {
    return nanos.getAsLong() - before + nanosPerLook * scheduler.drainWork();
  }

  private void spend(long cost) {
    planningNanos += cost;
    expose(cost);
  }

  private void expose(long waited) {
    exposedNow += waited;
    exposedNanos += waited;
  }
}
