package dev.kvasir.gateway.dashboard;

import java.util.List;

/**
 * Time that something took lately.
 *
 * @param lastMinute all of the last minute
 * @param slices the last five minutes in equal parts, oldest first
 */
public record Latency(Spread lastMinute, double sliceSeconds, List<Spread> slices) {
  /**
   * The spread of some durations.
   *
   * @param count how many there were; where none, the others are NaN
   */
  public record Spread(long count, double p50Seconds, double p90Seconds, double p99Seconds) {
    public static final Spread NONE = new Spread(0, Double.NaN, Double.NaN, Double.NaN);
  }

  public Latency {
    slices = List.copyOf(slices);
    if (!(sliceSeconds > 0)) throw new IllegalArgumentException("slices of " + sliceSeconds + " s");
  }
}
