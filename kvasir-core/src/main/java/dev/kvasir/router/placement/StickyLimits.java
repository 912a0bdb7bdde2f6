package dev.kvasir.router.placement;

import java.time.Duration;

/**
 * Limits within which sessions stay with one instance.
 *
 * @param sessionsMax how many are remembered
 * @param lifetime how long after their last request
 * @param patience how much later the first token may come at home than elsewhere, at the most: a
 *     policy may have less
 */
public record StickyLimits(int sessionsMax, Duration lifetime, Duration patience) {
  public static final StickyLimits DEFAULT =
      new StickyLimits(200_000, Duration.ofMinutes(30), Duration.ofSeconds(1));

  /** No session is remembered. */
  public static final StickyLimits NONE = new StickyLimits(0, Duration.ZERO, Duration.ZERO);

  private static final double NANOS = 1e9;

  public StickyLimits {
    if (sessionsMax < 0 || lifetime.isNegative() || patience.isNegative()) {
      throw new IllegalArgumentException(
          "%d sessions for %s, patience %s".formatted(sessionsMax, lifetime, patience));
    }
  }

  public StickyLimits withPatience(Duration other) {
    return new StickyLimits(sessionsMax, lifetime, other);
  }

  double patienceSeconds() {
    return patience.toNanos() / NANOS;
  }
}
