package dev.kvasir.gateway.dashboard;

import dev.kvasir.net.metrics.Histogram;
import java.util.ArrayList;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Durations of the last five minutes, counted in buckets; may be told and asked by any thread.
 *
 * <p>A bucket is 4 % wide, so a percentile is at most 2 % off.
 */
public final class RollingLatency {
  private static final long SLICE_NANOS = 5_000_000_000L;
  private static final int SLICES = 60;
  private static final int SLICES_OF_A_MINUTE = 12;

  private final LongSupplier nanos;
  private final Histogram minute = Histogram.ofLatency(0.04);
  private final Histogram[] slices =
      Stream.generate(minute::empty).limit(SLICES).toArray(Histogram[]::new);
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
    slices[row(latest)].add(seconds);
  }

  public synchronized Latency latency() {
    turn();
    var spreads = new ArrayList<Latency.Spread>(SLICES);
    minute.clear();
    for (long slice = latest - SLICES + 1; slice <= latest; slice++) {
      var row = slices[row(slice)];
      spreads.add(spread(row));
      if (slice > latest - SLICES_OF_A_MINUTE) minute.add(row);
    }
    return new Latency(spread(minute), SLICE_NANOS / 1e9, spreads);
  }

  /** Empties the rows of the slices that have begun since. */
  private void turn() {
    long now = now();
    for (long slice = Math.max(latest + 1, now - SLICES + 1); slice <= now; slice++) {
      slices[row(slice)].clear();
    }
    latest = Math.max(latest, now);
  }

  private long now() {
    return Math.floorDiv(nanos.getAsLong(), SLICE_NANOS);
  }

  private static int row(long slice) {
    return Math.floorMod(slice, SLICES);
  }

  private static Latency.Spread spread(Histogram seconds) {
    long count = seconds.count();
    if (count == 0) return Latency.Spread.NONE;
    return new Latency.Spread(
        count, seconds.percentile(0.5), seconds.percentile(0.9), seconds.percentile(0.99));
  }
}
