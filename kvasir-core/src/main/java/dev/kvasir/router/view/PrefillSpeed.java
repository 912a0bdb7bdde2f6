package dev.kvasir.router.view;

import java.util.Arrays;

/**
 * Speed at which an instance prefills, measured while no other prefill ran there.
 *
 * <p>The 90th percentile of the latest samples, since disturbances only make samples slower.
 * Unknown cache hits would make them faster; what workers report of cached tokens corrects these.
 */
public final class PrefillSpeed {
  private static final int SAMPLES_MAX = 64;
  private static final int SAMPLES_MIN = 8;
  private static final double NANOS = 1e9;

  /** Shorter prefills measure overheads rather than speed. */
  public static final int TOKENS_MIN = 1_024;

  private final double[] samples = new double[SAMPLES_MAX];
  private long count;
  private double workPerSecond;

  public void sample(long work, long nanos) {
    if (nanos <= 0) return;
    samples[(int) (count++ % SAMPLES_MAX)] = work / (nanos / NANOS);
    if (!isKnown()) return;
    var sorted = Arrays.copyOf(samples, (int) Math.min(count, SAMPLES_MAX));
    Arrays.sort(sorted);
    workPerSecond = sorted[Math.ceilDiv(sorted.length * 9, 10) - 1];
  }

  public boolean isKnown() {
    return count >= SAMPLES_MIN;
  }

  public double workPerSecond() {
    return workPerSecond;
  }
}
