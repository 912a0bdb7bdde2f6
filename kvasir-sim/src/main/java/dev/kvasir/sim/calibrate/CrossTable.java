package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.calibrate.CrossCheck.Judged;
import dev.kvasir.sim.calibrate.Interval.Figure;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Tells how good profiles were at captures that they were not made from, for a terminal.
 *
 * <p>A p90 counts as met where the prediction could have been measured as well: few requests tell
 * little of a tail.
 */
public final class CrossTable {
  private CrossTable() {}

  /** A row for each capture that was judged, then the median and the worst of all. */
  public static String of(List<Judged> judged) {
    var text = new StringBuilder();
    row(text, "%-38s%-15s", "calibrated on", "judged");
    for (var figure : Figure.values()) row(text, "%11s ", title(figure));
    text.append('\n');
    for (var each : judged) {
      var from = each.from().isEmpty() ? "nothing" : String.join(" ", names(each.from()));
      row(text, "%-38s%-15s", from, names(List.of(each.capture())).getFirst());
      for (var figure : Figure.values()) {
        var cell = each.cell(figure);
        var marks = (cell.isWithinChance() ? "*" : " ") + (cell.isForetold() ? "i" : " ");
        row(text, "%+8.1f %%%s", 100 * cell.error(), marks);
      }
      text.append('\n');
    }
    summary(text, judged, "median", 0.5);
    summary(text, judged, "worst", 1);
    text.append("*  the recording's own 90 % interval contains the prediction\n");
    text.append("i  the interval shown with the prediction contains what was measured\n");
    return text.toString();
  }

  private static void summary(StringBuilder text, List<Judged> judged, String name, double share) {
    row(text, "%-53s", name);
    for (var figure : Figure.values()) {
      row(text, "%8.1f %%  ", 100 * off(judged, figure, share));
    }
    text.append('\n');
  }

  /** Below which error that share of the judged lies; a p90 within chance has none. */
  public static double off(List<Judged> judged, Figure figure, double share) {
    var off = new double[judged.size()];
    for (int i = 0; i < off.length; i++) {
      var cell = judged.get(i).cell(figure);
      boolean isMet = figure.isTail() && cell.isWithinChance();
      off[i] = isMet ? 0 : Math.abs(cell.error());
    }
    Arrays.sort(off);
    return Spread.quantile(off, share);
  }

  private static List<String> names(List<String> captures) {
    return captures.stream()
        .map(each -> each.replaceFirst("(\\.capture)?\\.jsonl(\\.gz)?$", ""))
        .toList();
  }

  private static String title(Figure figure) {
    return figure.name().replace('_', ' ').replace(" P", " p");
  }

  private static void row(StringBuilder text, String format, Object... cells) {
    text.append(String.format(Locale.ROOT, format.replace("%n", "\n"), cells));
  }
}
