package dev.kvasir.live.load;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Adds answers up. Belongs to one loop. */
final class LoadTally {
  private static final int DIGITS = 3;
  private static final double MICROS_PER_MILLI = 1_000;

  private final LoadTargets targets;
  private final TreeMap<String, LoadReport.Failure> failures = new TreeMap<>();
  private final Histogram late = new Histogram(DIGITS);
  private final Histogram ttft = new Histogram(DIGITS);
  private final Histogram tpot = new Histogram(DIGITS);
  private final Histogram itl = new Histogram(DIGITS);
  private final Histogram e2e = new Histogram(DIGITS);
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
    histogram.recordValue(TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos)));
  }

  private static LoadReport.Spread spread(Histogram micros) {
    if (micros.getTotalCount() == 0) return new LoadReport.Spread(0, 0, 0, 0, 0);
    return new LoadReport.Spread(
        micros.getMean() / MICROS_PER_MILLI,
        micros.getValueAtPercentile(50) / MICROS_PER_MILLI,
        micros.getValueAtPercentile(90) / MICROS_PER_MILLI,
        micros.getValueAtPercentile(99) / MICROS_PER_MILLI,
        micros.getMaxValue() / MICROS_PER_MILLI);
  }
}
