package dev.kvasir.sim.page;

import dev.kvasir.sim.calibrate.Calibration;
import dev.kvasir.sim.calibrate.CalibrationTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The page about a profile: what it predicts of its captures against what was measured. */
public final class CalibrationPage {
  private static final int[] PERCENTS = {5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95};

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
    made.figures();
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

  private void figures() {
    var rows = new ArrayList<List<String>>();
    for (var each : CalibrationTable.compared(result)) {
      rows.add(
          List.of(
              each.capture(),
              each.figure(),
              millis(each.measured()),
              millis(each.predicted()),
              String.format(Locale.ROOT, "%+.1f %%", 100 * each.error())));
    }
    table(List.of("capture", "figure", "measured", "predicted", "error"), rows);
  }

  private void times() {
    var rows = new ArrayList<List<String>>();
    for (var each : result.lines()) {
      rows.add(
          List.of(
              each.label(),
              "",
              Figures.digits(each.prior()),
              Figures.digits(each.value()),
              Figures.share(each.sure())));
    }
    table(List.of("time", "", "beforehand", "found", "may be off by"), rows);
  }

  private void table(List<String> heads, List<List<String>> rows) {
    page.table(heads, 2, rows, -1);
  }

  private List<Chart> charts() {
    var charts = new ArrayList<Chart>();
    for (var each : result.explained()) {
      charts.add(chart(each, "First token"));
      charts.add(chart(each, "Whole answer"));
    }
    return charts;
  }

  private static Chart chart(Calibration.Explained each, String time) {
    boolean isFirst = time.equals("First token");
    int count = PERCENTS.length;
    var x = new double[count];
    var measured = new double[count];
    var predicted = new double[count];
    var rows = new ArrayList<Chart.Row>();
    double most = 0;
    for (int i = 0; i < count; i++) {
      x[i] = PERCENTS[i];
      double share = PERCENTS[i] / 100.0;
      measured[i] = isFirst ? each.measuredFirst(share) : each.measuredEnd(share);
      predicted[i] = isFirst ? each.predictedFirst(share) : each.predictedEnd(share);
      most = Math.max(most, Math.max(measured[i], predicted[i]));
      rows.add(
          new Chart.Row(
              x[i], List.of("p" + PERCENTS[i], millis(measured[i]), millis(predicted[i]))));
    }
    return new Chart(
        time + ", " + each.served().source(),
        "So many percent of the requests took no longer.",
        Axis.fromZero("percent of the requests", 100, Figures::digits),
        Axis.fromZero("milliseconds", most, Figures::digits),
        List.of(
            Series.dotted("measured", 1, x, measured), Series.dotted("predicted", 2, x, predicted)),
        List.of(),
        List.of("", "measured", "predicted"),
        rows);
  }

  private static String millis(double millis) {
    return String.format(Locale.ROOT, "%,.1f ms", millis);
  }
}
