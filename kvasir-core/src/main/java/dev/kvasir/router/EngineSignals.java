package dev.kvasir.router;

/**
 * What an engine last told of itself.
 *
 * @param queueDepth requests that wait
 * @param batchSize requests that run
 * @param kvUtilisation share of its blocks in use, 0 to 1
 * @param hitRate share of tokens it found cached, 0 to 1
 * @param freeBlocks blocks a new request could have, or {@link #UNKNOWN}
 * @param prefillTokens tokens that wait to be prefilled, or {@link #UNKNOWN}
 */
public record EngineSignals(
    int queueDepth,
    int batchSize,
    double kvUtilisation,
    double hitRate,
    int freeBlocks,
    long prefillTokens) {
  public static final int UNKNOWN = -1;

  /** Nothing has been told. */
  public static final EngineSignals NONE = of(0, 0, 0);

  public EngineSignals {
    if (queueDepth < 0 || batchSize < 0 || freeBlocks < UNKNOWN || prefillTokens < UNKNOWN) {
      throw new IllegalArgumentException(
          "queue %d, batch %d, free %d, prefill %d"
              .formatted(queueDepth, batchSize, freeBlocks, prefillTokens));
    }
    if (!isShare(kvUtilisation) || !isShare(hitRate)) {
      throw new IllegalArgumentException(
          "utilisation " + kvUtilisation + " and hit rate " + hitRate + ", expected 0 to 1");
    }
  }

  /** What engines of every kind tell. */
  public static EngineSignals of(int queueDepth, int batchSize, double kvUtilisation) {
    return new EngineSignals(queueDepth, batchSize, kvUtilisation, 0, UNKNOWN, UNKNOWN);
  }

  private static boolean isShare(double value) {
    return value >= 0 && value <= 1;
  }
}
