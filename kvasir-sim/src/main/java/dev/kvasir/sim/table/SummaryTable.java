package dev.kvasir.sim.table;

import dev.kvasir.sim.cache.CacheFound;
import dev.kvasir.sim.report.GroupTotal;
import dev.kvasir.sim.report.Summary;
import java.util.List;
import java.util.Locale;

/** A summary for a terminal. */
public final class SummaryTable {
  private final FigureText text = new FigureText();

  private SummaryTable() {}

  public static String of(Summary summary) {
    var table = new SummaryTable();
    table.requests(summary);
    table.times(summary);
    table.cache(summary);
    table.groups("group", summary.groups());
    table.groups("model", summary.models());
    return table.text.toString();
  }

  /** Describes what a cache alone found. */
  public static String of(CacheFound found) {
    return String.format(
        Locale.ROOT,
        "%,d blocks referred to, %,d found: %.2f %%",
        found.references(),
        found.hits(),
        100 * found.hitRate());
  }

  private void requests(Summary summary) {
    long all = summary.injectedRequests() + summary.rejected();
    text.line("requests", "%,d of %,d completed", summary.completedRequests(), all);
    some("%,d rejected", summary.rejected());
    some("%,d failed with their worker", summary.failed());
    some("%,d can never be served", summary.dropped());
    some("%,d timed out", summary.timedOut());
    some("%,d unfinished", summary.stillQueued() + summary.stillRunning());
    text.line("duration", "%,.1f s simulated", summary.durationSeconds());
    if (summary.presence() < 1) {
      double engines = summary.presence() * summary.instances().size();
      text.line("engines", "%.2f on average, by autoscaling", engines);
    }
    text.line(
        "throughput",
        "%,.2f requests/s, %,.0f tokens/s",
        summary.responsesPerSecond(),
        summary.tokensPerSecond());
    text.line(
        "goodput",
        "%,.2f requests/s, %.1f %% within targets",
        summary.goodput().requestsPerSecond(),
        100 * summary.goodput().attainment());
  }

  private void some(String format, long count) {
    if (count > 0) text.line("", format, count);
  }

  private void times(Summary summary) {
    text.add("\nms                  mean         p50         p90         p99\n");
    spread("TTFT", summary.ttft());
    spread("ITL", summary.itl());
    spread("E2E", summary.e2e());
    text.add("\n");
  }

  private void spread(String name, Summary.Spread spread) {
    text.figures(name, spread.mean(), spread.p50(), spread.p90(), spread.p99());
  }

  private void cache(Summary summary) {
    text.line("cached", "%.2f %% of prompt tokens", 100 * summary.tokenHitRate());
    for (var tier : summary.tiers()) {
      text.line(
          "  " + tier.tier().word(),
          "%,d tokens found, %,d blocks in, %,d out, %,d evicted",
          tier.hitTokens(),
          tier.stored(),
          tier.loaded(),
          tier.evicted());
    }
    if (summary.offloadShare() > 0) {
      text.line("elsewhere", "%.1f %% of heavy prompts computed", 100 * summary.offloadShare());
    }
    if (summary.preemptions() > 0) text.line("preempted", "%,d times", summary.preemptions());
  }

  private void groups(String kind, List<GroupTotal> totals) {
    if (totals.isEmpty()) return;
    int width = 12;
    for (var each : totals) width = Math.max(width, each.name().length() + 2);
    var names = "%-" + width + "s";
    text.add("\n" + names, kind);
    text.add("engines    requests  cached %%  busy %%  TTFT p50 ms         p90  E2E p50 ms\n");
    for (var each : totals) {
      text.add(
          names + "%7d%,12d%10.2f%8.1f%,13.1f%,12.1f%,12.1f\n",
          each.name().isEmpty() ? "(none)" : each.name(),
          each.instances(),
          each.requests(),
          100 * each.tokenHitRate(),
          100 * each.utilisation(),
          each.ttft().p50(),
          each.ttft().p90(),
          each.e2e().p50());
    }
  }
}
