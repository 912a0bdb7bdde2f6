package dev.kvasir.sim.page;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** Draws the distribution of a time: the share of requests that took no longer. */
final class DistributionChart {
  private static final List<Double> MARKED = List.of(50.0, 90.0, 99.0);

  private DistributionChart() {}

  /**
   * Draws one time.
   *
   * @param percentile its value in microseconds at a percentage
   */
  static Chart of(DoubleUnaryOperator percentile, String title, String note, Duration target) {
    var percents = percents();
    var x = new double[percents.size()];
    var y = new double[percents.size()];
    var rows = new ArrayList<Chart.Row>();
    for (int i = 0; i < x.length; i++) {
      x[i] = percentile.applyAsDouble(percents.get(i));
      y[i] = percents.get(i) / 100;
      var share = Figures.digits(percents.get(i)) + " %";
      rows.add(new Chart.Row(x[i], List.of(share, Figures.micros(x[i]))));
    }
    return new Chart(
        title,
        note,
        Axis.times(
            "time, in steps that multiply",
            x[0],
            Math.max(x[x.length - 1], target.toNanos() / 1e3)),
        Axis.shares("share"),
        List.of(Series.line(title, 0, x, y)),
        marks(percentile, target),
        List.of("share", "within"),
        rows);
  }

  private static List<Chart.Mark> marks(DoubleUnaryOperator percentile, Duration target) {
    var marks = new ArrayList<Chart.Mark>();
    if (target.isZero()) {
      for (double percent : MARKED) {
        marks.add(
            new Chart.Mark(
                Chart.Direction.UPRIGHT,
                percentile.applyAsDouble(percent),
                "p" + Figures.digits(percent)));
      }
    } else {
      double micros = target.toNanos() / 1e3;
      marks.add(
          new Chart.Mark(Chart.Direction.UPRIGHT, micros, "target " + Figures.micros(micros)));
    }
    return marks;
  }

  /** Every percent, and more values at the slow end. */
  private static List<Double> percents() {
    var percents = new ArrayList<Double>();
    for (int percent = 0; percent < 100; percent++) percents.add((double) percent);
    percents.addAll(List.of(99.5, 99.9, 100.0));
    return percents;
  }
}
