package dev.kvasir.router.limit;

import java.time.Duration;

/**
 * A token bucket: a rate per second, and a capacity for bursts.
 *
 * <p>The bucket starts full. Time counts in whole microseconds.
 */
final class TokenBucket {
  private static final int NANOS_PER_MICRO = 1_000;
  private static final double MICROS_PER_SECOND = 1e6;
  private static final int DEBTS_MAX = 60;

  private double capacity;
  private double perSecond;
  private double left;
  private long filledMicros;

  /** A full bucket of that size. */
  TokenBucket(double capacity, double perSecond, long nowNanos) {
    if (!isPositive(capacity) || !isPositive(perSecond)) {
      throw new IllegalArgumentException(
          "bucket of " + capacity + " tokens, " + perSecond + " a second");
    }
    this.capacity = capacity;
    this.perSecond = perSecond;
    this.left = capacity;
    this.filledMicros = nowNanos / NANOS_PER_MICRO;
  }

  /** A bucket that holds what a minute brings. */
  static TokenBucket perMinute(int perMinute, long nowNanos) {
    return new TokenBucket(perMinute, perMinute / 60.0, nowNanos);
  }

  /** Changes how much a minute brings. */
  void resize(double perMinute) {
    capacity = perMinute;
    perSecond = perMinute / 60.0;
  }

  /** Adds what came since. */
  void fill(long nowNanos) {
    long nowMicros = nowNanos / NANOS_PER_MICRO;
    long elapsedMicros = nowMicros - filledMicros;
    if (elapsedMicros <= 0) return;
    left = Math.min(capacity, left + elapsedMicros * perSecond / MICROS_PER_SECOND);
    filledMicros = nowMicros;
  }

  /** A bucket that holds and brings a part of what this one does, and has that part of it now. */
  TokenBucket part(int parts, long nowNanos) {
    fill(nowNanos);
    var part = new TokenBucket(capacity / parts, perSecond / parts, nowNanos);
    part.left = left / parts;
    return part;
  }

  double left() {
    return left;
  }

  /** Somebody knows that there is no more left than that. */
  void limitTo(double most) {
    left = Math.min(left, most);
  }

  boolean has(double amount) {
    return left >= amount;
  }

  /** Until as much is there; of more than the bucket holds, all of that. Zero where it is now. */
  Duration until(double wanted) {
    double lacking = Math.min(wanted, capacity) - left;
    if (lacking <= 0) return Duration.ZERO;
    long micros = (long) Math.ceil(lacking * MICROS_PER_SECOND / perSecond);
    return Duration.ofNanos(micros * NANOS_PER_MICRO);
  }

  /**
   * May take more than there is, which is then lacking, but never more than {@value DEBTS_MAX} full
   * buckets; a number below zero gives back.
   */
  void consume(double amount) {
    left = Math.max(left - amount, -DEBTS_MAX * capacity);
  }

  private static boolean isPositive(double value) {
    return value > 0 && value < Double.POSITIVE_INFINITY;
  }
}
