package dev.kvasir.live.gateway;

import java.time.Duration;

/** How much of something may still be had, where there is so much a minute; belongs to one loop. */
final class Allowance {
  private static final double NANOS_PER_MINUTE = 60e9;

  private int perMinute;
  private double left;
  private long filledNanos;

  /** One of which nothing has been had. */
  Allowance(int perMinute, long nowNanos) {
    this.perMinute = perMinute;
    this.left = perMinute;
    this.filledNanos = nowNanos;
  }

  /** Adds what came since; the most there can be is what a minute brings. */
  void fill(int rate, long nowNanos) {
    perMinute = rate;
    left = Math.min(perMinute, left + (nowNanos - filledNanos) * perNano());
    filledNanos = nowNanos;
  }

  /** Until as much is there; of more than a minute brings, all of that. Zero where it is now. */
  Duration until(double wanted) {
    double lacking = Math.min(wanted, perMinute) - left;
    return lacking <= 0 ? Duration.ZERO : Duration.ofNanos((long) Math.ceil(lacking / perNano()));
  }

  /** May take more than there is, which is then lacking; a number below zero gives back. */
  void take(double amount) {
    left -= amount;
  }

  private double perNano() {
    return perMinute / NANOS_PER_MINUTE;
  }
}
