package dev.kvasir.live.dashboard;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Durations of the last five minutes, counted in buckets; may be told and asked by any thread.
 *
 * <p>A bucket is 4 % wide, so a percentile is at most 2 % off.
 */
public final class RollingLatency {
  private static final long SLICE_NANOS = 5_000_000_000L;
  private static final int SLICES = 60;
  private static final int SLICES_OF_A_MINUTE = 12;

  private static final double SECONDS_MIN = 1e-5;
  private static final double GROWTH = Math.log(1.04);
  private static final int BUCKETS = 470;

  private final LongSupplier nanos;
  private final int[][] counts = new int[SLICES][BUCKETS];
  private long latest;

  /**
   * Starts with no durations.
   *
   * @param nanos a clock that only goes forward, such as {@code System::nanoTime}
   */
  public RollingLatency(LongSupplier nanos) {
    this.nanos = nanos;
    this.latest = now();
  }

  public synchronized void add(double seconds) {
    if (!(seconds >= 0)) throw new IllegalArgumentException("it took " + seconds + " s");
    turn();
    counts[row(latest)][bucket(seconds)]++;
  }

  public synchronized Latency latency() {
    turn();
    var slices = new ArrayList<Latency.Spread>(SLICES);
    var minute = new int[BUCKETS];
    for (long slice = latest - SLICES + 1; slice <= latest; slice++) {
      var row = counts[row(slice)];
      slices.add(spread(row));
      if (slice <= latest - SLICES_OF_A_MINUTE) continue;
      for (int i = 0; i < BUCKETS; i++) minute[i] += row[i];
    }
    return new Latency(spread(minute), SLICE_NANOS / 1e9, slices);
  }

  /** Empties the rows of the slices that have begun since. */
  private void turn() {
    long now = now();
    for (long slice = Math.max(latest + 1, now - SLICES + 1); slice <= now; slice++) {
      Arrays.fill(counts[row(slice)], 0);
    }
    latest = Math.max(latest, now);
  }

  private long now() {
    return Math.floorDiv(nanos.getAsLong(), SLICE_NANOS);
  }

  private static int row(long slice) {
    return Math.floorMod(slice, SLICES);
  }

  private static int bucket(double seconds) {
    if (seconds <= SECONDS_MIN) return 0;
    return Math.min(BUCKETS - 1, (int) (Math.log(seconds / SECONDS_MIN) / GROWTH));
  }

  private static Latency.Spread spread(int[] buckets) {
    long count = Arrays.stream(buckets).asLongStream().sum();
    if (count == 0) return Latency.Spread.NONE;
    return new Latency.Spread(
        count,
        percentile(buckets, count, 0.5),
        percentile(buckets, count, 0.9),
        percentile(buckets, count, 0.99));
  }

  /** The middle of the bucket that holds the duration of this rank. */
  private static double percentile(int[] buckets, long count, double share) {
    long rank = Math.max(1, (long) Math.ceil(share * count));
    int bucket = -1;
    for (long seen = 0; seen < rank; ) seen += buckets[++bucket];
    return SECONDS_MIN * Math.exp((bucket + 0.5) * GROWTH);
  }
}
