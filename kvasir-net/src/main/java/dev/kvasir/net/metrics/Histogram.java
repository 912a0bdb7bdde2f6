package dev.kvasir.net.metrics;

import java.util.Arrays;

/** Counts values by their size, in buckets with fixed bounds. Not for several threads at a time. */
public final class Histogram {
  private final double[] bounds;
  private final long[] counts;
  private double sum;
  private double max;

  /** One count for each bound, of the values up to it, and one for all that are larger. */
  public Histogram(double... bounds) {
    this.bounds = bounds.clone();
    for (int i = 1; i < bounds.length; i++) {
      if (bounds[i] <= bounds[i - 1]) throw new IllegalArgumentException(Arrays.toString(bounds));
    }
    this.counts = new long[bounds.length + 1];
  }

  private Histogram(Histogram shape) {
    bounds = shape.bounds;
    counts = new long[shape.counts.length];
  }

  /** An empty one with the same bounds. */
  public Histogram empty() {
    return new Histogram(this);
  }

  /** From a millisecond to a few minutes. */
  public static Histogram ofSeconds() {
    return new Histogram(
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
        20, 40, 80, 160);
  }

  /**
   * From a microsecond to 1,000 seconds, in buckets that grow by the same factor.
   *
   * @param width of a bucket, as a share of its values; a percentile is at most half of it off
   */
  public static Histogram ofLatency(double width) {
    double least = 1e-6;
    double most = 1e3;
    int size = (int) Math.ceil(Math.log(most / least) / Math.log1p(width));
    var bounds = new double[size];
    for (int i = 0; i < size; i++) bounds[i] = least * Math.exp(i * Math.log1p(width));
    return new Histogram(bounds);
  }

  public void add(double value) {
    int at = Arrays.binarySearch(bounds, value);
    counts[at >= 0 ? at : ~at]++;
    sum += value;
    max = Math.max(max, value);
  }

  /** Adds what was counted in buckets of the same bounds. */
  public void add(Histogram other) {
    if (other.bounds.length != bounds.length) throw new IllegalArgumentException("other bounds");
    for (int i = 0; i < counts.length; i++) counts[i] += other.counts[i];
    sum += other.sum;
    max = Math.max(max, other.max);
  }

  public void clear() {
    Arrays.fill(counts, 0);
    sum = 0;
    max = 0;
  }

  public long count() {
    return Arrays.stream(counts).sum();
  }

  public double sum() {
    return sum;
  }

  public double max() {
    return max;
  }

  public double mean() {
    long count = count();
    return count == 0 ? 0 : sum / count;
  }

  /**
   * The middle of the bucket that holds the value of this rank, and 0 where there are none.
   *
   * @param share of the values that are no larger, from 0 to 1
   */
  public double percentile(double share) {
    long count = count();
    if (count == 0) return 0;
    long rank = Math.max(1, (long) Math.ceil(share * count));
    int bucket = -1;
    for (long seen = 0; seen < rank; ) seen += counts[++bucket];
    if (bucket == 0) return Math.min(max, bounds[0]);
    if (bucket == bounds.length) return max;
    return Math.min(max, Math.sqrt(bounds[bucket - 1] * bounds[bucket]));
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
