package dev.kvasir.cli.load;

import dev.kvasir.sim.table.FigureText;
import dev.kvasir.tools.load.LoadReport;
import dev.kvasir.tools.load.LoadTargets;

/** The report of a load for a terminal. */
final class LoadTable {
  /** Beyond this, requests were not sent when they were due. */
  private static final double LATE_MILLIS = 50;

  private final FigureText text = new FigureText();

  private LoadTable() {}

  static String of(LoadReport report, LoadTargets targets) {
    var table = new LoadTable();
    table.requests(report);
    if (!targets.equals(LoadTargets.NONE)) table.goodput(report);
    table.times(report);
    if (report.lateMillis().p99() > LATE_MILLIS) table.late(report);
    return table.text.toString();
  }

  private void requests(LoadReport report) {
    text.line("requests", "%,d of %,d answered", report.completed(), report.sent());
    for (var failure : report.failures()) {
      text.line("failed", "%,d %s: %s", failure.count(), failure.kind(), failure.example());
    }
    if (report.unfinished() > 0) text.line("stopped", "%,d were under way", report.unfinished());
    var tokens = report.tokens();
    text.line("duration", "%,.1f s", report.seconds());
    text.line(
        "throughput",
        "%,.2f requests/s, %,.0f tokens/s out, %,.0f tokens/s in",
        report.perSecond(report.completed()),
        report.perSecond(tokens.output()),
        report.perSecond(tokens.prompt()));
    if (tokens.cached() > 0) {
      text.line("cached", "%.2f %% of prompt tokens", 100.0 * tokens.cached() / tokens.prompt());
    }
  }

  private void goodput(LoadReport report) {
    text.line(
        "goodput",
        "%,.2f requests/s, %.1f %% within targets",
        report.perSecond(report.good()),
        100 * report.attainment());
  }

  private void times(LoadReport report) {
    text.add("\nms                  mean         p50         p90         p99         max\n");
    spread("TTFT", report.ttftMillis());
    spread("TPOT", report.tpotMillis());
    spread("ITL", report.itlMillis());
    spread("E2E", report.e2eMillis());
    spread("sent late", report.lateMillis());
  }

  private void spread(String name, LoadReport.Spread spread) {
    text.figures(name, spread.mean(), spread.p50(), spread.p90(), spread.p99(), spread.max());
  }

  private void late(LoadReport report) {
    text.add("\n");
    text.line(
        "note",
        "requests were sent up to %,.0f ms late, which the times include: raise --in-flight,",
        report.lateMillis().max());
    text.line("", "or use a faster machine");
  }
}
