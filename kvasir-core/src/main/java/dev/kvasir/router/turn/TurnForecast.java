package dev.kvasir.router.turn;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * Predicts how long a request will wait, from recent measurements.
 *
 * <p>It measures how often requests end, how many of these were of each rank, and how long a worker
 * takes from a start to the first token. A rank gets what the ranks before it leave.
 */
public final class TurnForecast {
  private static final double START_NANOS = 1e9;

  /** Number of the latest samples that are averaged over. */
  private static final double AVERAGED = 32;

  /** Of the ends, what at least counts as left by the ranks before. */
  private static final double LEFT_MIN = 0.05;

  /** The share of each rank among those that ended. */
  private final Map<Integer, Double> shares = new TreeMap<>();

  private double gapNanos = START_NANOS;
  private double firstTokenNanos;
  private long endedNanos;
  private long ends;
  private long endsBeforeOthers;
  private long starts;

  /** Work begins: between two times of work nothing ends, which says nothing of a turn. */
  public void begun(long nowNanos) {
    endedNanos = nowNanos;
  }

  /** A request has ended. */
  public void ended(long nowNanos) {
    ends++;
    gapNanos += (nowNanos - endedNanos - gapNanos) / Math.min((double) ends, AVERAGED);
    endedNanos = nowNanos;
  }

  /**
   * A request of that rank has ended while others wait: only then its share is what the ranks
   * behind it do not get.
   */
  public void endedBeforeOthers(int rank) {
    endsBeforeOthers++;
    double weight = Math.min((double) endsBeforeOthers, AVERAGED);
    shares.putIfAbsent(rank, 0.0);
    shares.replaceAll((each, share) -> share + ((each == rank ? 1 : 0) - share) / weight);
  }

  /** A request has its first token so long after it was sent to a worker. */
  public void answered(long nanos) {
    starts++;
    firstTokenNanos += (nanos - firstTokenNanos) / Math.min((double) starts, AVERAGED);
  }

  /** Returns whether enough requests have ended. */
  public boolean isKnown() {
    return ends >= AVERAGED;
  }

  /** From the start of a request to its first token. */
  public Duration firstToken() {
    return Duration.ofNanos((long) firstTokenNanos);
  }

  /** Until a request of that rank has its turn, with so many before it. */
  public Duration untilTurn(int rank, int before) {
    double left = 1;
    for (var each : shares.entrySet()) if (each.getKey() < rank) left -= each.getValue();
    return Duration.ofNanos((long) (gapNanos * (before + 1) / Math.max(LEFT_MIN, left)));
  }
}
