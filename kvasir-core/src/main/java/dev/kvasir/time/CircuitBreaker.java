package dev.kvasir.time;

import java.time.Duration;

/**
 * Stops sending work to something that fails, and tries it again after a pause.
 *
 * <pre>
 *   CLOSED --failuresMax in a row--> TRIPPED --pause over--> TRYING --success--> CLOSED
 *                                       ^----------failure------'
 * </pre>
 *
 * <p>A caller that decides itself when to trip calls {@link #failed()}, {@link #isDue} and {@link
 * #trip}.
 */
public final class CircuitBreaker {
  /** State that decides whether work may pass. */
  public enum State {
    CLOSED,
    TRIPPED,
    TRYING
  }

  private final int failuresMax;
  private final long pauseNanos;
  private State state = State.CLOSED;
  private int failures;
  private long trippedNanos;
  private long trips;

  public CircuitBreaker(int failuresMax, Duration pause) {
    if (failuresMax < 1) throw new IllegalArgumentException(failuresMax + " failures at most");
    if (!pause.isPositive()) throw new IllegalArgumentException("a pause of " + pause);
    this.failuresMax = failuresMax;
    this.pauseNanos = pause.toNanos();
  }

  public State state() {
    return state;
  }

  public boolean isTripped() {
    return state == State.TRIPPED;
  }

  /** Failures in a row. */
  public int failures() {
    return failures;
  }

  /** Returns the number of times that it tripped. */
  public long trips() {
    return trips;
  }

  /** Returns whether there were enough failures to trip it. During a trial, one is enough. */
  public boolean isDue() {
    if (failures == 0) return false;
    return switch (state) {
      case CLOSED -> failures >= failuresMax;
      case TRYING -> true;
      case TRIPPED -> false;
    };
  }

  /** Returns whether work may pass now; the first after the pause is the trial. */
  public boolean admits(long nowNanos) {
    if (state == State.TRIPPED && nowNanos - trippedNanos >= pauseNanos) {
      state = State.TRYING;
      failures = 0;
      return true;
    }
    return state == State.CLOSED;
  }

  /**
   * Resets the count. A success that arrives while it is tripped is ignored: the work began before.
   */
  public void succeeded() {
    if (state == State.TRIPPED) return;
    failures = 0;
    state = State.CLOSED;
  }

  /** The work that passed says nothing. If it was the trial, the next work is the trial. */
  public void abstained() {
    if (state == State.TRYING) state = State.TRIPPED;
  }

  /** Counts a failure. */
  public void failed() {
    failures++;
  }

  /** Counts a failure, and trips if there were too many. */
  public void failed(long nowNanos) {
    failed();
    if (isDue()) trip(nowNanos);
  }

  public void trip(long nowNanos) {
    if (state == State.TRIPPED) return;
    state = State.TRIPPED;
    trippedNanos = nowNanos;
    trips++;
  }
}
