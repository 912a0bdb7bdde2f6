package dev.kvasir.router.view;

import java.time.Duration;

/**
 * The current estimates of how fast instances prefill and transfer KV.
 *
 * @param workPerSecond what an instance of this fleet prefills, in units of work
 * @param transferBaseSeconds what handing over K and V takes for any prompt
 * @param transferTokenSeconds what it takes for each token on top
 * @param parityTokens the context at which attention costs as much as all the rest of the model;
 *     infinite where prefill is linear
 * @param credit what a cached block is worth on each tier
 */
public record Estimates(
    double workPerSecond,
    double transferBaseSeconds,
    double transferTokenSeconds,
    double parityTokens,
    TierCredit credit) {
  private static final double NANOS = 1e9;

  /** The parity is that of a dense model of 8 billion parameters, 32 layers and width 4,096. */
  public static final Estimates DEFAULT = new Estimates(8_000, 0.5, 0, 30_000, TierCredit.DEFAULT);

  public Estimates {
    if (!(workPerSecond > 0) || !(parityTokens > 0)) {
      throw new IllegalArgumentException(
          "work " + workPerSecond + " a second, parity at " + parityTokens + " tokens");
    }
    if (!(transferBaseSeconds >= 0) || !(transferTokenSeconds >= 0)) {
      throw new IllegalArgumentException(
          "transfer of " + transferBaseSeconds + " s and " + transferTokenSeconds + " s a token");
    }
  }

  /** These, but for how fast the instances are at the start. */
  public Estimates starting(double workPerSecond, Duration transfer) {
    return new Estimates(workPerSecond, transfer.toNanos() / NANOS, 0, parityTokens, credit);
  }

  /** These, but for how fast the instances prefill at the start. */
  public Estimates startingAt(double speed) {
    return new Estimates(speed, transferBaseSeconds, transferTokenSeconds, parityTokens, credit);
  }

  /** These, with another worth of cached blocks. */
  public Estimates with(TierCredit other) {
    return new Estimates(
        workPerSecond, transferBaseSeconds, transferTokenSeconds, parityTokens, other);
  }

  /** These, for a model of another parity. */
  public Estimates withParity(double tokens) {
    return new Estimates(workPerSecond, transferBaseSeconds, transferTokenSeconds, tokens, credit);
  }

  /**
   * The work of computing the last tokens of a prompt: a token and what it attends to.
   *
   * <p>Tokens at the end of a long prompt attend to all before them, so the same number of them
   * costs far more than a short prompt does. In this unit a machine has one speed.
   */
  public long work(int uncachedTokens, int promptTokens) {
    double attended = uncachedTokens * (promptTokens - uncachedTokens / 2.0) / parityTokens;
    return Math.round(uncachedTokens + attended);
  }

  public double transferSeconds(int tokens) {
    return transferBaseSeconds + transferTokenSeconds * tokens;
  }
}
