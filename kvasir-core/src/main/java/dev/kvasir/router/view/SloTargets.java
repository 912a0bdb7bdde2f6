package dev.kvasir.router.view;

import java.time.Duration;

/**
 * Latency targets: the first token is due after a time that grows with the prompt, each further one
 * a fixed time after the one before it was due.
 *
 * @param base until the first token of an empty prompt
 * @param tokensPerSecond how much prompt buys a further second
 * @param perToken between the tokens of the answer
 */
public record SloTargets(Duration base, double tokensPerSecond, Duration perToken) {
  private static final double NANOS = 1e9;

  public static final SloTargets DEFAULT =
      new SloTargets(Duration.ofSeconds(1), 16_000, Duration.ofMillis(50));

  public SloTargets {
    if (base.isNegative() || perToken.isNegative() || !(tokensPerSecond > 0)) {
      throw new IllegalArgumentException(
          "base %s, %s tokens a second, %s a token".formatted(base, tokensPerSecond, perToken));
    }
  }

  public double firstTokenSeconds(int promptTokens) {
    return base.toNanos() / NANOS + promptTokens / tokensPerSecond;
  }

  /** Returns how long a stream may still be held up before its next token is late. */
  public double slackSeconds(int promptTokens, long emittedTokens, long elapsedNanos) {
    double due = firstTokenSeconds(promptTokens) + emittedTokens * (perToken.toNanos() / NANOS);
    return due - elapsedNanos / NANOS;
  }
}
