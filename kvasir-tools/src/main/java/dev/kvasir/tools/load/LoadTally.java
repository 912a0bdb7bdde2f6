package dev.kvasir.tools.load;

import dev.kvasir.net.metrics.Histogram;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.TreeMap;

/** Adds answers up. Belongs to one loop. */
final class LoadTally {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MILLIS_PER_SECOND = 1_000;

  /** Of a bucket, so that a percentile is off by a thousandth at most. */
  private static final double WIDTH = 0.002;

  private final LoadTargets targets;
  private final TreeMap<String, LoadReport.Failure> failures = new TreeMap<>();
  private final Histogram late = Histogram.ofLatency(WIDTH);
  private final Histogram ttft = Histogram.ofLatency(WIDTH);
  private final Histogram tpot = Histogram.ofLatency(WIDTH);
  private final Histogram itl = Histogram.ofLatency(WIDTH);
  private final Histogram e2e = Histogram.ofLatency(WIDTH);
  private long sent;
  private long completed;
  private long good;
  private long promptTokens;
  private long outputTokens;
  private long cachedTokens;

  LoadTally(LoadTargets targets) {
    this.targets = targets;
  }

  long sent() {
    return sent;
  }

  long completed() {
    return completed;
  }

  long failed() {
    return failures.values().stream().mapToLong(LoadReport.Failure::count).sum();
  }

  /** A request was sent so much later than it should have been. */
  void sent(long lateNanos) {
    sent++;
    record(late, lateNanos);
  }

  /** A request that should have been sent at that time was answered. */
  void answered(long arrivalNanos, Answer answer) {
    switch (answer) {
      case Answer.Complete complete -> add(arrivalNanos, complete);
      case Answer.Failed(var kind, var message) ->
          failures.merge(
              kind,
              new LoadReport.Failure(kind, 1, message),
              (known, _) -> new LoadReport.Failure(kind, known.count() + 1, known.example()));
    }
  }

  private void add(long arrivalNanos, Answer.Complete answer) {
    completed++;
    var usage = answer.usage();
    promptTokens += usage.promptTokens();
    outputTokens += usage.outputTokens();
    cachedTokens += usage.cachedTokens();
    long first = answer.firstNanos() - arrivalNanos;
    record(ttft, first);
    record(e2e, answer.endNanos() - arrivalNanos);
    for (long gap : answer.gapsNanos()) record(itl, gap);
    double perToken = 0;
    if (usage.outputTokens() > 1) {
      perToken = (answer.lastNanos() - answer.firstNanos()) / (usage.outputTokens() - 1.0);
      record(tpot, (long) perToken);
    }
    if (targets.areMet(first, perToken)) good++;
  }

  LoadReport report(double seconds) {
    var kinds = new ArrayList<>(failures.values());
    kinds.sort(Comparator.comparingLong(LoadReport.Failure::count).reversed());
    return new LoadReport(
        seconds,
        sent,
        completed,
        kinds,
        new LoadReport.Tokens(promptTokens, outputTokens, cachedTokens),
        spread(late),
        spread(ttft),
        spread(tpot),
        spread(itl),
        spread(e2e),
        good);
  }

  private static void record(Histogram histogram, long nanos) {
    histogram.add(Math.max(0, nanos) / NANOS_PER_SECOND);
  }

  private static LoadReport.Spread spread(Histogram seconds) {
    return new LoadReport.Spread(
        seconds.mean() * MILLIS_PER_SECOND,
        seconds.percentile(0.5) * MILLIS_PER_SECOND,
        seconds.percentile(0.9) * MILLIS_PER_SECOND,
        seconds.percentile(0.99) * MILLIS_PER_SECOND,
        seconds.max() * MILLIS_PER_SECOND);
  }
}
