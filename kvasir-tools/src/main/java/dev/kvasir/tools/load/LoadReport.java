package dev.kvasir.tools.load;

import java.util.List;

/**
 * The results of a load.
 *
 * @param seconds from the first arrival to the last answer
 * @param failures requests that were not answered as asked, by kind, the most frequent first
 * @param lateMillis how late requests were sent, against when they should have been
 * @param ttftMillis from when a request should have been sent to the first text
 * @param tpotMillis of each request, the mean time for a token after the first
 * @param itlMillis from each piece of text to the next
 * @param good answers that kept to the targets
 */
public record LoadReport(
    double seconds,
    long sent,
    long completed,
    List<Failure> failures,
    Tokens tokens,
    Spread lateMillis,
    Spread ttftMillis,
    Spread tpotMillis,
    Spread itlMillis,
    Spread e2eMillis,
    long good) {
  /** A kind of failure, how often it was seen, and what one of them said. */
  public record Failure(String kind, long count, String example) {}

  /** Tokens of all complete answers, as the server counts them. */
  public record Tokens(long prompt, long output, long cached) {}

  /** Spread of times, in milliseconds. */
  public record Spread(double mean, double p50, double p90, double p99, double max) {}

  public LoadReport {
    failures = List.copyOf(failures);
  }

  public long failed() {
    return failures.stream().mapToLong(Failure::count).sum();
  }

  /** Requests that were still under way when the load was stopped. */
  public long unfinished() {
    return sent - completed - failed();
  }

  public double perSecond(long count) {
    return seconds > 0 ? count / seconds : 0;
  }

  /** The share of all requests that were answered within the targets. */
  public double attainment() {
    return sent == 0 ? 0 : (double) good / sent;
  }
}
