package dev.kvasir.offload;

import java.time.Duration;

/** What settings and stages need to know of durations and deadlines. */
final class Deadlines {
  static final BlockOutcome PASSED = new BlockOutcome.Failed("deadline passed before the transfer");

  private Deadlines() {}

  static long at(long nowNanos, Duration deadline) {
    return nowNanos + Math.min(deadline.toNanos(), Long.MAX_VALUE - nowNanos);
  }

  static Duration left(long deadlineNanos, long nowNanos) {
    return Duration.ofNanos(Math.max(0, deadlineNanos - nowNanos));
  }

  static void requirePositive(String name, Duration duration) {
    if (!duration.isPositive()) {
      throw new IllegalArgumentException(name + " is " + duration + ", expected more than 0");
    }
  }
}
