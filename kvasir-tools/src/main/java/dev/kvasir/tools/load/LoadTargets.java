package dev.kvasir.tools.load;

import java.time.Duration;

/** Targets that an answer must keep to, to count as good; zero for no target. */
public record LoadTargets(Duration ttft, Duration tpot) {
  public static final LoadTargets NONE = new LoadTargets(Duration.ZERO, Duration.ZERO);

  public LoadTargets {
    if (ttft.isNegative() || tpot.isNegative()) {
      throw new IllegalArgumentException("targets of " + ttft + " and " + tpot);
    }
  }

  boolean areMet(long ttftNanos, double tpotNanos) {
    return keeps((double) ttftNanos, ttft) && keeps(tpotNanos, tpot);
  }

  private static boolean keeps(double nanos, Duration target) {
    return target.isZero() || nanos <= target.toNanos();
  }
}
