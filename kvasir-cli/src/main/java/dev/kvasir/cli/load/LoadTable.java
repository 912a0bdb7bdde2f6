package dev.kvasir.cli.load;

import dev.kvasir.live.load.LoadReport;
import dev.kvasir.live.load.LoadTargets;
import java.util.Locale;

/** The report of a load for a terminal. */
final class LoadTable {
  /** Beyond this, requests were not sent when they were due. */
  private static final double LATE_MILLIS = 50;

  private final StringBuilder text = new StringBuilder();

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
    line(
        "requests",
        String.format(Locale.ROOT, "%,d of %,d answered", report.completed(), report.sent()));
    for (var failure : report.failures()) {
      line(
          "failed",
          String.format(
              Locale.ROOT, "%,d %s: %s", failure.count(), failure.kind(), failure.example()));
    }
    if (report.unfinished() > 0) {
      line("stopped", String.format(Locale.ROOT, "%,d were under way", report.unfinished()));
    }
    var tokens = report.tokens();
    line("duration", String.format(Locale.ROOT, "%,.1f s", report.seconds()));
    line(
        "throughput",
        String.format(
            Locale.ROOT,
            "%,.2f requests/s, %,.0f tokens/s out, %,.0f tokens/s in",
            report.perSecond(report.completed()),
            report.perSecond(tokens.output()),
            report.perSecond(tokens.prompt())));
    if (tokens.cached() > 0) {
      double share = 100.0 * tokens.cached() / tokens.prompt();
      line("cached", String.format(Locale.ROOT, "%.2f %% of prompt tokens", share));
    }
  }

  private void goodput(LoadReport report) {
    line(
        "goodput",
        String.format(
            Locale.ROOT,
            "%,.2f requests/s, %.1f %% within targets",
            report.perSecond(report.good()),
            100 * report.attainment()));
  }

  private void times(LoadReport report) {
    text.append('\n');
    text.append("ms                  mean         p50         p90         p99         max\n");
    spread("TTFT", report.ttftMillis());
    spread("TPOT", report.tpotMillis());
    spread("ITL", report.itlMillis());
    spread("E2E", report.e2eMillis());
    spread("sent late", report.lateMillis());
  }

  private void spread(String name, LoadReport.Spread spread) {
    text.append(
        String.format(
            Locale.ROOT,
            "%-12s%,12.1f%,12.1f%,12.1f%,12.1f%,12.1f\n",
            name,
            spread.mean(),
            spread.p50(),
            spread.p90(),
            spread.p99(),
            spread.max()));
  }

  private void late(LoadReport report) {
    text.append('\n');
    line(
        "note",
        String.format(
            Locale.ROOT,
            "requests were sent up to %,.0f ms late, which the times include: raise --in-flight,",
            report.lateMillis().max()));
    line("", "or send from a machine that has more to spare");
  }

  private void line(String name, String value) {
    text.append(name).repeat(' ', Math.max(1, 12 - name.length())).append(value).append('\n');
  }
}
