package dev.kvasir.offload.store;

import java.time.Duration;

/** Arithmetic and checks for durations and deadlines. */
public final class Deadlines {
  private Deadlines() {}

  public static long at(long nowNanos, Duration deadline) {
    return nowNanos + Math.min(deadline.toNanos(), Long.MAX_VALUE - nowNanos);
  }

  public static Duration left(long deadlineNanos, long nowNanos) {
    return Duration.ofNanos(Math.max(0, deadlineNanos - nowNanos));
  }

  public static void requirePositive(String name, Duration duration) {
    if (!duration.isPositive()) {
      throw new IllegalArgumentException(name + " is " + duration + ", expected more than 0");
    }
  }
}
