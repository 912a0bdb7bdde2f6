package dev.kvasir.router;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.RouteRequest;

/**
 * Admits requests at a rate of prompt tokens, with a bucket for bursts.
 *
 * <p>The bucket starts full. Time counts in whole microseconds.
 */
public final class TokenBucket implements AdmissionPolicy {
  private static final int NANOS_PER_MICRO = 1_000;
  private static final double MICROS_PER_SECOND = 1e6;

  private final double capacity;
  private final double tokensPerSecond;
  private double tokens;
  private long filledMicros;

  public TokenBucket(double capacity, double tokensPerSecond) {
    if (!isPositive(capacity) || !isPositive(tokensPerSecond)) {
      throw new IllegalArgumentException(
          "bucket of " + capacity + " tokens, " + tokensPerSecond + " a second");
    }
    this.capacity = capacity;
    this.tokensPerSecond = tokensPerSecond;
    this.tokens = capacity;
  }

  @Override
  public Admission admit(RouteRequest request, ClusterView cluster) {
    fill(cluster.nanos() / NANOS_PER_MICRO);
    if (tokens < request.promptTokens()) return new Admission.Rejected("insufficient tokens");
    tokens -= request.promptTokens();
    return Admission.ADMITTED;
  }

  private void fill(long nowMicros) {
    long elapsedMicros = nowMicros - filledMicros;
    if (elapsedMicros <= 0) return;
    tokens = Math.min(capacity, tokens + elapsedMicros * tokensPerSecond / MICROS_PER_SECOND);
    filledMicros = nowMicros;
  }

  private static boolean isPositive(double value) {
    return value > 0 && value < Double.POSITIVE_INFINITY;
  }
}
