package dev.kvasir.sim.page;

import static dev.kvasir.sim.page.Html.Column.figures;
import static dev.kvasir.sim.page.Html.Column.words;

import dev.kvasir.sim.calibrate.Calibration;
import dev.kvasir.sim.calibrate.CalibrationTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.DoubleStream;

/** The page about a profile: what it predicts of its captures against what was measured. */
public final class CalibrationPage {
  private static final double[] SHARES = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

  private final Calibration.Result result;
  private final Page page;

  private CalibrationPage(Calibration.Result result) {
    this.result = result;
    var profile = result.profile();
    this.page =
        new Page(
            "Profile " + profile.name(),
            "How this deployment takes its time, from "
                + result.explained().size()
                + " captures, and how well that explains them.");
  }

  /** The whole page. */
  public static String of(Calibration.Result result) {
    var made = new CalibrationPage(result);
    made.compared();
    made.page.chapter("Predicted against measured");
    made.page.charts(made.charts());
    made.page.chapter("What was found");
    made.times();
    if (!result.notes().isEmpty()) {
      made.page.chapter("What to know");
      for (var note : result.notes()) made.page.html().element("p", note);
    }
    return made.page.end();
  }

  private void compared() {
    page.html()
        .table(
            CalibrationTable.compared(result),
            List.of(
                words("capture", CalibrationTable.Compared::capture),
                words("figure", CalibrationTable.Compared::figure),
                figures("measured", each -> millis(each.measured())),
                figures("predicted", each -> millis(each.predicted())),
                figures(
                    "error", each -> String.format(Locale.ROOT, "%+.1f %%", 100 * each.error()))));
  }

  private void times() {
    page.html()
        .table(
            result.lines(),
            List.of(
                words("time", each -> each.label()),
                figures("beforehand", each -> Figures.digits(each.prior())),
                figures("found", each -> Figures.digits(each.value())),
                figures("may be off by", each -> Figures.share(each.sure()))));
  }

  private List<Chart> charts() {
    var charts = new ArrayList<Chart>();
    for (var each : result.explained()) {
      var source = each.served().source();
      charts.add(chart("First token, " + source, each::measuredFirst, each::predictedFirst));
      charts.add(chart("Whole answer, " + source, each::measuredEnd, each::predictedEnd));
    }
    return charts;
  }

  private static Chart chart(
      String title, DoubleUnaryOperator measuredMillis, DoubleUnaryOperator predictedMillis) {
    return new Chart(
        title,
        "So many percent of the requests took no longer.",
        Axis.shares("share of the requests", 0),
        Axis.times(),
        SHARES,
        List.of(
            Series.dotted("measured", 1, micros(measuredMillis)),
            Series.dotted("predicted", 2, micros(predictedMillis))));
  }

  private static double[] micros(DoubleUnaryOperator millis) {
    return DoubleStream.of(SHARES).map(share -> 1000 * millis.applyAsDouble(share)).toArray();
  }

  private static String millis(double millis) {
    return String.format(Locale.ROOT, "%,.1f ms", millis);
  }
}
