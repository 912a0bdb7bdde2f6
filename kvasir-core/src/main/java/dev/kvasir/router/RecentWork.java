package dev.kvasir.router;

/** The work sent to an instance in the last minute, counted by the second. */
final class RecentWork {
  private static final int SECONDS = 60;
  private static final long NANOS = 1_000_000_000;

  /** A rate over less than this would be one of chance. */
  private static final double RATE_SECONDS_MIN = 30;

  private final long[] work = new long[SECONDS];
  private long second;
  private long firstSecond = Long.MAX_VALUE;
  private long sum;

  void add(long nowNanos, long units) {
    forgetBefore(nowNanos / NANOS);
    firstSecond = Math.min(firstSecond, second);
    work[(int) (second % SECONDS)] += units;
    sum += units;
  }

  long sum(long nowNanos) {
    forgetBefore(nowNanos / NANOS);
    return sum;
  }

  /** Returns the work sent per second, as a mean over the minute or the time since the first. */
  double perSecond(long nowNanos) {
    double seconds = Math.min(SECONDS, nowNanos / NANOS - firstSecond + 1);
    return sum == 0 ? 0 : sum(nowNanos) / Math.max(RATE_SECONDS_MIN, seconds);
  }

  private void forgetBefore(long now) {
    if (now <= second) return;
    for (long past = Math.max(second + 1, now - SECONDS + 1); past <= now; past++) {
      int at = (int) (past % SECONDS);
      sum -= work[at];
      work[at] = 0;
    }
    second = now;
  }
}
