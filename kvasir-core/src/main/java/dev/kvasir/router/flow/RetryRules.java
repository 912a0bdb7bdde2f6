package dev.kvasir.router.flow;

import java.time.Duration;

/**
 * Rules for a request whose worker fails before the answer has begun.
 *
 * @param attemptsMax how many workers are tried
 * @param split what happens when the two workers of a split request cannot finish it together
 * @param handoverTime how long a worker keeps what it prefilled for another; zero where it does not
 */
public record RetryRules(int attemptsMax, Split split, Duration handoverTime) {
  /** Treatment of a request whose prefill was sent elsewhere, when that goes wrong. */
  public enum Split {
    /** It prefills where it decodes. */
    FALL_BACK,
    /** It fails, so that somebody notices. */
    STRICT
  }

  /** One attempt. */
  public static final RetryRules NONE = new RetryRules(1, Split.FALL_BACK, Duration.ZERO);

  public RetryRules {
    if (attemptsMax < 1 || handoverTime.isNegative()) {
      throw new IllegalArgumentException(
          attemptsMax + " attempts, prefills kept for " + handoverTime);
    }
  }
}
