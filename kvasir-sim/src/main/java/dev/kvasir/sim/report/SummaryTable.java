package dev.kvasir.sim.report;

import dev.kvasir.sim.cache.CacheFound;
import java.util.List;
import java.util.Locale;

/** A summary for a terminal. */
public final class SummaryTable {
  private final StringBuilder text = new StringBuilder();

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

  /** What a cache alone found. */
  public static String of(CacheFound found) {
    return String.format(
        Locale.ROOT,
        "%,d blocks referred to, %,d found: %.2f %%",
        found.references(),
        found.hits(),
        100 * found.hitRate());
  }

  private void requests(Summary summary) {
    line(
        "requests",
        String.format(
            Locale.ROOT, "%,d of %,d completed", summary.completedRequests(), all(summary)));
    if (summary.rejected() > 0)
      line("", String.format(Locale.ROOT, "%,d rejected", summary.rejected()));
    if (summary.failed() > 0)
      line("", String.format(Locale.ROOT, "%,d failed with their worker", summary.failed()));
    if (summary.dropped() > 0)
      line("", String.format(Locale.ROOT, "%,d can never be served", summary.dropped()));
    if (summary.timedOut() > 0)
      line("", String.format(Locale.ROOT, "%,d timed out", summary.timedOut()));
    if (summary.stillQueued() + summary.stillRunning() > 0) {
      line(
          "",
          String.format(
              Locale.ROOT, "%,d unfinished", summary.stillQueued() + summary.stillRunning()));
    }
    line("duration", String.format(Locale.ROOT, "%,.1f s simulated", summary.durationSeconds()));
    if (summary.presence() < 1) {
      double engines = summary.presence() * summary.instances().size();
      line("engines", String.format(Locale.ROOT, "%.2f on average, by autoscaling", engines));
    }
    line(
        "throughput",
        String.format(
            Locale.ROOT,
            "%,.2f requests/s, %,.0f tokens/s",
            summary.responsesPerSecond(),
            summary.tokensPerSecond()));
    line(
        "goodput",
        String.format(
            Locale.ROOT,
            "%,.2f requests/s, %.1f %% within targets",
            summary.goodput().requestsPerSecond(),
            100 * summary.goodput().attainment()));
  }

  private static long all(Summary summary) {
    return summary.injectedRequests() + summary.rejected();
  }

  private void times(Summary summary) {
    text.append('\n');
    text.append("ms                  mean         p50         p90         p99\n");
    spread("TTFT", summary.ttft());
    spread("ITL", summary.itl());
    spread("E2E", summary.e2e());
    text.append('\n');
  }

  private void spread(String name, Summary.Spread spread) {
    text.append(
        String.format(
            Locale.ROOT,
            "%-12s%,12.1f%,12.1f%,12.1f%,12.1f\n",
            name,
            spread.mean(),
            spread.p50(),
            spread.p90(),
            spread.p99()));
  }

  private void cache(Summary summary) {
    line(
        "cached",
        String.format(Locale.ROOT, "%.2f %% of prompt tokens", 100 * summary.tokenHitRate()));
    for (var tier : summary.tiers()) {
      line(
          "  " + tier.tier().word(),
          String.format(
              Locale.ROOT,
              "%,d tokens found, %,d blocks in, %,d out, %,d evicted",
              tier.hitTokens(),
              tier.stored(),
              tier.loaded(),
              tier.evicted()));
    }
    if (summary.offloadShare() > 0) {
      line(
          "elsewhere",
          String.format(
              Locale.ROOT, "%.1f %% of heavy prompts computed", 100 * summary.offloadShare()));
    }
    if (summary.preemptions() > 0)
      line("preempted", String.format(Locale.ROOT, "%,d times", summary.preemptions()));
  }

  private void groups(String kind, List<GroupTotal> totals) {
    if (totals.isEmpty()) return;
    int width = 12;
    for (var each : totals) width = Math.max(width, each.name().length() + 2);
    text.append('\n').append(kind).repeat(' ', width - kind.length());
    text.append("engines    requests  cached %  busy %  TTFT p50 ms         p90  E2E p50 ms\n");
    for (var each : totals) {
      var name = each.name().isEmpty() ? "(none)" : each.name();
      text.append(name).repeat(' ', width - name.length());
      text.append(
          String.format(
              Locale.ROOT,
              "%7d%,12d%10.2f%8.1f%,13.1f%,12.1f%,12.1f\n",
              each.instances(),
              each.requests(),
              100 * each.tokenHitRate(),
              100 * each.utilisation(),
              each.ttft().p50(),
              each.ttft().p90(),
              each.e2e().p50()));
    }
  }

  private void line(String name, String value) {
    text.append(name).repeat(' ', Math.max(1, 12 - name.length())).append(value).append('\n');
  }
}
