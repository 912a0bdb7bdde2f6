package dev.kvasir.sim.page;

import java.time.Duration;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Draws the distribution of a time: the share of requests that took no longer. */
final class DistributionChart {
  /** Every percent, and more values at the slow end. */
  private static final double[] PERCENTS =
      DoubleStream.concat(
              IntStream.range(0, 100).asDoubleStream(), DoubleStream.of(99.5, 99.9, 100))
          .toArray();

  private DistributionChart() {}

  /**
   * Draws one time.
   *
   * @param percentile its value in microseconds at a percentage
   */
  static Chart of(DoubleUnaryOperator percentile, String title, String note, Duration target) {
    var micros = DoubleStream.of(PERCENTS).map(percentile).toArray();
    double mostMicros = Math.max(micros[micros.length - 1], target.toNanos() / 1e3);
    return new Chart(
        title,
        note,
        Axis.logTimes("within", micros[0], mostMicros),
        Axis.shares("share", 0),
        micros,
        List.of(),
        List.of(
            Series.line("share", 0, DoubleStream.of(PERCENTS).map(each -> each / 100).toArray())),
        marks(percentile, target));
  }

  private static List<Chart.Mark> marks(DoubleUnaryOperator percentile, Duration target) {
    if (target.isZero()) {
      return Stream.of(50, 90, 99)
          .map(percent -> mark(percentile.applyAsDouble(percent), "p" + percent))
          .toList();
    }
    double micros = target.toNanos() / 1e3;
    return List.of(mark(micros, "target " + Figures.micros(micros)));
  }

  private static Chart.Mark mark(double micros, String label) {
    return new Chart.Mark(Chart.Direction.UPRIGHT, micros, label);
  }
}
