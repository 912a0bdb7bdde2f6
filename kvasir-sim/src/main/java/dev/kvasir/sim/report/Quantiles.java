package dev.kvasir.sim.report;

import java.util.Arrays;

/** The mean and the percentiles of some figures, in whole microseconds. */
public final class Quantiles {
  private final long[] sorted;

  /** Takes the figures as they are; the array is sorted in place. */
  public Quantiles(long[] micros) {
    Arrays.sort(micros);
    this.sorted = micros;
  }

  public int count() {
    return sorted.length;
  }

  public double meanMicros() {
    if (sorted.length == 0) return 0;
    double sum = 0;
    for (long value : sorted) sum += value;
    return sum / sorted.length;
  }

  /** The value at that percentile, between neighbours in proportion. */
  public double percentileMicros(double percent) {
    if (sorted.length == 0) return 0;
    double rank = percent / 100.0 * (sorted.length - 1);
    int below = (int) StrictMath.floor(rank);
    int above = Math.min(sorted.length - 1, (int) StrictMath.ceil(rank));
    return sorted[below] + (rank - below) * (sorted[above] - sorted[below]);
  }
}
