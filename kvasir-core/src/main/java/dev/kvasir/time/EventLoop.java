package dev.kvasir.time;

import java.time.Duration;

/**
 * Provides the current time, and runs tasks later.
 *
 * <p>Tasks never overlap. They run in the order (time, sequence): of two tasks due at the same
 * time, the one submitted first runs first. A task that throws does not stop later tasks.
 */
public interface EventLoop {
  /** Nanoseconds since this loop began; never goes back. */
  long nanos();

  /** Runs the task after everything already due, never inside the caller. */
  void execute(Runnable task);

  /** Runs the task once the delay has passed, unless the timer is cancelled first. */
  Timer after(Duration delay, Runnable task);

  /** The same for a delay in nanoseconds, for code that asks for millions of them. */
  default Timer afterNanos(long delay, Runnable task) {
    return after(Duration.ofNanos(delay), task);
  }
}
