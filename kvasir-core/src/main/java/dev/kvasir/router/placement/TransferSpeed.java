package dev.kvasir.router.placement;

/** Predicts how long a KV transfer takes, by a line fitted to the latest samples. */
public final class TransferSpeed {
  private static final int SAMPLES_MAX = 64;
  private static final int SAMPLES_MIN = 8;
  private static final double NANOS = 1e9;

  private final double[] tokens = new double[SAMPLES_MAX];
  private final double[] seconds = new double[SAMPLES_MAX];
  private long count;
  private double base;
  private double perToken;

  public void sample(int movedTokens, long nanos) {
    int at = (int) (count++ % SAMPLES_MAX);
    tokens[at] = movedTokens;
    seconds[at] = nanos / NANOS;
    if (isKnown()) fit((int) Math.min(count, SAMPLES_MAX));
  }

  public boolean isKnown() {
    return count >= SAMPLES_MIN;
  }

  public double baseSeconds() {
    return base;
  }

  public double tokenSeconds() {
    return perToken;
  }

  /** Least squares; the line begins between nothing and the quickest that was seen. */
  private void fit(int samples) {
    double meanTokens = 0;
    double meanSeconds = 0;
    double quickest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < samples; i++) {
      meanTokens += tokens[i] / samples;
      meanSeconds += seconds[i] / samples;
      quickest = Math.min(quickest, seconds[i]);
    }
    double covariance = 0;
    double variance = 0;
    for (int i = 0; i < samples; i++) {
      covariance += (tokens[i] - meanTokens) * (seconds[i] - meanSeconds);
      variance += (tokens[i] - meanTokens) * (tokens[i] - meanTokens);
    }
    double slope = variance == 0 ? 0 : covariance / variance;
    base = Math.clamp(meanSeconds - slope * meanTokens, 0, quickest);
    perToken = meanTokens == 0 ? 0 : Math.max(0, (meanSeconds - base) / meanTokens);
  }
}
