package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.calibrate.Spread.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Tells what a calibration found, for a terminal. */
public final class CalibrationTable {
  private static final double[] SHARES = {0.5, 0.9};

  private CalibrationTable() {}

  /** A figure of a capture, measured and predicted, in milliseconds. */
  public record Compared(String capture, String figure, double measured, double predicted) {
    /** By which share the predicted one is above the measured one, or below. */
    public double error() {
      return measured == 0 ? 0 : predicted / measured - 1;
    }
  }

  /** The medians and p90 of TTFT and E2E of each capture. */
  public static List<Compared> compared(Calibration.Result result) {
    var all = new ArrayList<Compared>();
    for (var each : result.explained()) {
      for (var time : List.of(Time.TTFT, Time.E2E)) {
        var measured = time.measured(each.served().requests());
        var predicted = time.predicted(each.predicted().requests());
        for (double share : SHARES) {
          all.add(
              new Compared(
                  each.served().source(),
                  time + " p" + Math.round(100 * share),
                  Spread.quantile(measured, share) / 1000,
                  Spread.quantile(predicted, share) / 1000));
        }
      }
    }
    return all;
  }

  public static String of(Calibration.Result result) {
    var text = new StringBuilder();
    row(text, "%-34s%12s%12s%10s%n", "ms", "measured", "predicted", "error");
    for (var each : compared(result)) {
      row(
          text,
          "%-24s %-9s%,12.1f%,12.1f%+8.1f %%%n",
          each.capture().replaceFirst("\\.capture\\.jsonl(\\.gz)?$", ""),
          each.figure(),
          each.measured(),
          each.predicted(),
          100 * each.error());
    }
    row(text, "%n%-20s%14s%14s%18s%n", "time", "beforehand", "found", "may be off by");
    for (var each : result.lines()) {
      row(
          text,
          "%-20s%,14.2f%,14.2f%16.0f %%%n",
          each.label(),
          each.prior(),
          each.value(),
          100 * each.sure());
    }
    var profile = result.profile();
    row(text, "%ngpu         %s%n", profile.origin().gpu());
    return text.toString();
  }

  private static void row(StringBuilder text, String format, Object... cells) {
    text.append(String.format(Locale.ROOT, format.replace("%n", "\n"), cells));
  }
}
