package dev.kvasir.sim.step;

/** Computes one step at a time, for all who share it, in the order in which they ask. */
public final class StepQueue {
  private long freeNanos;

  /** Adds a step of that length; returns when it is over. */
  long add(long nowNanos, long stepNanos) {
    freeNanos = Math.addExact(Math.max(freeNanos, nowNanos), stepNanos);
    return freeNanos;
  }
}
