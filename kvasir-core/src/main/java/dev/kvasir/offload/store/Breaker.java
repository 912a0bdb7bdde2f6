package dev.kvasir.offload.store;

import java.time.Duration;

/**
 * Keeps work away from something that fails, and tries it again from time to time.
 *
 * <pre>
 *   CLOSED --failuresMax in a row--> OPEN --pause over--> TRYING --success--> CLOSED
 *                                     ^----------failure-----'
 * </pre>
 */
final class Breaker {
  /** Whether work may pass. */
  enum State {
    CLOSED,
    OPEN,
    TRYING
  }

  private final int failuresMax;
  private final long pauseNanos;
  private State state = State.CLOSED;
  private int failures;
  private long openedNanos;
  private long opened;

  Breaker(int failuresMax, Duration pause) {
    if (failuresMax < 1) throw new IllegalArgumentException(failuresMax + " failures at most");
    Deadlines.requirePositive("pause", pause);
    this.failuresMax = failuresMax;
    this.pauseNanos = pause.toNanos();
  }

  State state() {
    return state;
  }

  /** How often it opened. */
  long opened() {
    return opened;
  }

  /** Whether work may pass now; the first one after the pause is the trial. */
  boolean admits(long nowNanos) {
    if (state == State.OPEN && nowNanos - openedNanos >= pauseNanos) {
      state = State.TRYING;
      return true;
    }
    return state == State.CLOSED;
  }

  void succeeded() {
    failures = 0;
    state = State.CLOSED;
  }

  void failed(long nowNanos) {
    failures++;
    if (state == State.TRYING || (state == State.CLOSED && failures >= failuresMax)) {
      state = State.OPEN;
      openedNanos = nowNanos;
      opened++;
    }
  }
}
