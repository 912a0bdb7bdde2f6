package dev.kvasir.sim.report;

import java.util.Arrays;

/** The mean and the percentiles of some figures, in whole microseconds. */
public final class Quantiles {
  /** Counting is faster than sorting up to this many possible values per figure. */
  private static final int COUNTED_PER_FIGURE = 4;

  private final long[] sorted;

  /** Takes the figures as they are; the array is sorted in place. */
  public Quantiles(long[] micros) {
    sort(micros);
    this.sorted = micros;
  }

  /** Counts instead of sorting if there are few possible values. */
  private static void sort(long[] micros) {
    long most = 0;
    for (long value : micros) most = Math.max(most, value < 0 ? Long.MAX_VALUE : value);
    if (most >= COUNTED_PER_FIGURE * (long) micros.length) {
      Arrays.sort(micros);
      return;
    }
    var counts = new int[(int) most + 1];
    for (long value : micros) counts[(int) value]++;
    int at = 0;
    for (int value = 0; value < counts.length; value++) {
      Arrays.fill(micros, at, at + counts[value], value);
      at += counts[value];
    }
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
