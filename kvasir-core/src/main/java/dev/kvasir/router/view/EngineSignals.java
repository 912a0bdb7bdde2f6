package dev.kvasir.router.view;

/**
 * The last report of an engine; {@link #UNKNOWN} for each figure that it did not report.
 *
 * <p>Unknown is not zero: an engine without time to report its load is busy, not idle. Policies see
 * {@link AssumedSignals} instead.
 *
 * @param queueDepth requests that wait
 * @param batchSize requests that run
 * @param kvUtilisation share of its blocks in use, 0 to 1
 * @param hitRate share of tokens it found cached, 0 to 1
 * @param freeBlocks blocks a new request could have
 * @param prefillTokens tokens that wait to be prefilled
 */
public record EngineSignals(
    int queueDepth,
    int batchSize,
    double kvUtilisation,
    double hitRate,
    int freeBlocks,
    long prefillTokens) {
  public static final int UNKNOWN = -1;

  /** Nothing has been reported. */
  public static final EngineSignals NONE = of(UNKNOWN, UNKNOWN, UNKNOWN);

  /** It reported that there is nothing to do. */
  public static final EngineSignals IDLE = of(0, 0, 0);

  public EngineSignals {
    if (queueDepth < UNKNOWN || batchSize < UNKNOWN) {
      throw new IllegalArgumentException("queue " + queueDepth + ", batch " + batchSize);
    }
    if (freeBlocks < UNKNOWN || prefillTokens < UNKNOWN) {
      throw new IllegalArgumentException("free " + freeBlocks + ", prefill " + prefillTokens);
    }
    if (!isShare(kvUtilisation) || !isShare(hitRate)) {
      throw new IllegalArgumentException(
          "utilisation " + kvUtilisation + " and hit rate " + hitRate + ", expected 0 to 1");
    }
  }

  /** Returns signals with what engines of every kind report. */
  public static EngineSignals of(int queueDepth, int batchSize, double kvUtilisation) {
    return new EngineSignals(queueDepth, batchSize, kvUtilisation, UNKNOWN, UNKNOWN, UNKNOWN);
  }

  /** Returns whether all that policies look at was reported. */
  boolean isLoadKnown() {
    return queueDepth != UNKNOWN && batchSize != UNKNOWN && kvUtilisation != UNKNOWN;
  }

  private static boolean isShare(double value) {
    return value == UNKNOWN || (value >= 0 && value <= 1);
  }
}
