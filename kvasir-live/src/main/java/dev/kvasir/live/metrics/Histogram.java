package dev.kvasir.live.metrics;

import java.util.Arrays;

/** Counts values by their size. Not for several threads at a time. */
public final class Histogram {
  private final double[] bounds;
  private final long[] counts;
  private double sum;

  /** One count for each bound, of the values up to it, and one for all that are larger. */
  public Histogram(double... bounds) {
    this.bounds = bounds.clone();
    for (int i = 1; i < bounds.length; i++) {
      if (bounds[i] <= bounds[i - 1]) throw new IllegalArgumentException(Arrays.toString(bounds));
    }
    this.counts = new long[bounds.length + 1];
  }

  /** From a millisecond to a few minutes. */
  public static Histogram ofSeconds() {
    return new Histogram(
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
        20, 40, 80, 160);
  }

  public void add(double value) {
    int at = Arrays.binarySearch(bounds, value);
    counts[at >= 0 ? at : ~at]++;
    sum += value;
  }

  public long count() {
    return Arrays.stream(counts).sum();
  }

  public double sum() {
    return sum;
  }

  int bounds() {
    return bounds.length;
  }

  double bound(int index) {
    return bounds[index];
  }

  long countAt(int index) {
    return counts[index];
  }
}
