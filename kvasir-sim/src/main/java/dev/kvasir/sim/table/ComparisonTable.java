package dev.kvasir.sim.table;

import dev.kvasir.sim.report.BestPoint;
import dev.kvasir.sim.report.Comparison;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A comparison for a terminal: a row for each setting, and the one to take. */
public final class ComparisonTable {
  private static final String BEST = "*";

  private ComparisonTable() {}

  public static String of(Comparison comparison) {
    var best = BestPoint.of(comparison);
    var rows = new ArrayList<List<String>>();
    rows.add(head(comparison));
    for (int i = 0; i < comparison.points().size(); i++) {
      rows.add(row(comparison, comparison.points().get(i), i == best.index() ? BEST : ""));
    }
    var text = new StringBuilder();
    for (var row : rows) write(text, row, widths(rows), comparison.keys().size());
    var name = comparison.name(comparison.points().get(best.index()));
    text.append("\nbest ").append(BEST).append("  ").append(name).append('\n');
    return text.append("        ").append(best.reason()).append('\n').toString();
  }

  private static List<String> head(Comparison comparison) {
    var head = new ArrayList<>(comparison.keys());
    head.addAll(List.of("TTFT p50 ms", "p90", "p99", "ITL p50 ms", "p99", "cached %", "within %"));
    head.add(comparison.unit());
    head.add("");
    return head;
  }

  private static List<String> row(Comparison comparison, Comparison.Point point, String mark) {
    var summary = point.summary();
    var row = new ArrayList<>(point.values());
    row.add(number(summary.ttft().p50()));
    row.add(number(summary.ttft().p90()));
    row.add(number(summary.ttft().p99()));
    row.add(number(summary.itl().p50()));
    row.add(number(summary.itl().p99()));
    row.add(number(100 * summary.tokenHitRate()));
    row.add(number(100 * summary.goodput().attainment()));
    row.add(String.format(Locale.ROOT, "%,.3f", comparison.cost(point)));
    row.add(mark);
    return row;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%,.1f", value);
  }

  private static int[] widths(List<List<String>> rows) {
    var widths = new int[rows.getFirst().size()];
    for (var row : rows) {
      for (int i = 0; i < widths.length; i++) widths[i] = Math.max(widths[i], row.get(i).length());
    }
    return widths;
  }

  /** Settings to the left, figures to the right. */
  private static void write(StringBuilder text, List<String> row, int[] widths, int keys) {
    var line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      int room = widths[i] - row.get(i).length();
      if (i > 0) line.append("  ");
      if (i < keys) line.append(row.get(i)).repeat(' ', room);
      else line.repeat(' ', room).append(row.get(i));
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }
}
