package dev.kvasir.router;

/** The work sent to an instance in the last minute, counted by the second. */
final class RecentWork {
  private static final int SECONDS = 60;
  private static final long NANOS = 1_000_000_000;

  private final long[] work = new long[SECONDS];
  private long second;
  private long sum;

  void add(long nowNanos, long units) {
    forgetBefore(nowNanos / NANOS);
    work[(int) (second % SECONDS)] += units;
    sum += units;
  }

  long sum(long nowNanos) {
    forgetBefore(nowNanos / NANOS);
    return sum;
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
