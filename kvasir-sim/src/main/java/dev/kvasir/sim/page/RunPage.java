package dev.kvasir.sim.page;

import static dev.kvasir.sim.page.Html.Column.figures;
import static dev.kvasir.sim.page.Html.Column.words;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.report.GroupTotal;
import dev.kvasir.sim.report.Quantiles;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.result.Gaps;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The page about one run: its results, their distribution, and their course over time. */
public final class RunPage {
  private final RunResult run;
  private final Summary summary;
  private final Summary.Scale scale;
  private final Page page;

  private RunPage(RunResult run, Summary.Scale scale) {
    this.run = run;
    this.summary = Summary.of(run, scale);
    this.scale = scale;
    this.page = new Page("Simulated run", lead());
  }

  /** The whole page. */
  public static String of(RunResult run, Summary.Scale scale, RunDescription description) {
    var made = new RunPage(run, scale);
    made.headlines();
    made.page.chapter("Times");
    made.page.charts(made.times());
    made.page.chapter("Course");
    made.page.charts(made.course());
    made.page.chapter("Tiers");
    made.tiers();
    made.groups("Groups", made.summary.groups());
    made.groups("Models", made.summary.models());
    made.page.chapter("Instances");
    new BalanceChart(run).write(made.page.html());
    made.page.inputs(description);
    return made.page.end();
  }

  private String lead() {
    var instances = run.instances().size();
    return Figures.count(run.requests().size())
        + " requests on "
        + Figures.count(instances)
        + (instances == 1 ? " instance, " : " instances, ")
        + Figures.seconds(summary.durationSeconds())
        + " of simulated time.";
  }

  private void headlines() {
    page.html().open("dl", "class", "figures");
    page.headline("First token, p50", summary.ttft());
    page.headline("Between tokens, p50", summary.itl());
    page.headline(
        "Found in cache", Figures.share(summary.tokenHitRate()), "of the prompts' tokens");
    page.headline(
        "Throughput",
        Figures.digits(summary.responsesPerSecond()) + " /s",
        Figures.count((long) summary.tokensPerSecond()) + " tokens a second");
    goodput();
    page.headline("Completed", Figures.count(summary.completedRequests()), losses());
    page.html().close("dl");
  }

  private void goodput() {
    var goodput = summary.goodput();
    boolean aimless = scale.targets().equals(Goodput.Targets.NONE);
    page.headline(
        "Goodput",
        Figures.digits(goodput.requestsPerSecond()) + " /s",
        aimless
            ? "no targets were given"
            : Figures.share(goodput.attainment()) + " within targets");
  }

  private String losses() {
    var losses = new ArrayList<String>();
    lost(losses, summary.rejected(), "rejected");
    lost(losses, summary.failed(), "failed");
    lost(losses, summary.timedOut(), "timed out");
    lost(losses, summary.dropped(), "impossible");
    lost(losses, summary.stillQueued() + summary.stillRunning(), "unfinished");
    lost(losses, summary.preemptions(), "preemptions");
    return losses.isEmpty() ? "none lost, none preempted" : String.join(", ", losses);
  }

  private static void lost(List<String> losses, long count, String how) {
    if (count > 0) losses.add(Figures.count(count) + " " + how);
  }

  private List<Chart> times() {
    var gaps = new Gaps();
    for (var instance : run.instances()) gaps.addAll(instance.gaps());
    return List.of(
        DistributionChart.of(
            times(RequestResult::ttftMicros)::percentileMicros,
            "To the first token",
            "Share of requests whose first token had come by then (TTFT).",
            scale.targets().ttft()),
        DistributionChart.of(
            gaps::percentileMicros,
            "Between tokens",
            "Share of tokens that followed the one before within that time (ITL).",
            scale.targets().itl()),
        DistributionChart.of(
            times(RequestResult::e2eMicros)::percentileMicros,
            "To the last token",
            "Share of requests that were complete by then (E2E).",
            scale.targets().e2e()));
  }

  private Quantiles times(ToLongFunction<RequestResult> figure) {
    return new Quantiles(
        run.requests().stream().mapToLong(figure).filter(micros -> micros >= 0).toArray());
  }

  private List<Chart> course() {
    if (run.requests().isEmpty()) return List.of();
    var course = new TimelineChart(run, scale.blockTokens());
    var tiers = summary.tiers().stream().map(Summary.TierTotal::tier).toList();
    return List.of(
        course.hits(tiers.isEmpty() ? List.of(Tier.DEVICE) : tiers), course.load(), course.waits());
  }

  /** A table of the groups or the models; nothing where all instances are equal. */
  private void groups(String title, List<GroupTotal> totals) {
    if (totals.isEmpty()) return;
    page.chapter(title);
    page.html()
        .table(
            totals,
            List.of(
                words("name", each -> each.name().isEmpty() ? "(none)" : each.name()),
                figures("instances", each -> Figures.count(each.instances())),
                figures("requests", each -> Figures.count(each.requests())),
                figures("found in cache", each -> Figures.share(each.tokenHitRate())),
                figures("time computing", each -> Figures.share(each.utilisation())),
                figures("first token, p50", each -> Figures.millis(each.ttft().p50())),
                figures("p90", each -> Figures.millis(each.ttft().p90())),
                figures("last token, p50", each -> Figures.millis(each.e2e().p50()))));
  }

  private void tiers() {
    page.html()
        .table(
            summary.tiers(),
            List.of(
                words("tier", tier -> tier.tier().word()),
                figures("tokens found", tier -> Figures.count(tier.hitTokens())),
                figures("blocks in", tier -> Figures.count(tier.stored())),
                figures("blocks out", tier -> Figures.count(tier.loaded())),
                figures("bytes in", tier -> Figures.bytes(tier.storedBytes())),
                figures("bytes out", tier -> Figures.bytes(tier.loadedBytes())),
                figures("evicted", tier -> Figures.count(tier.evicted())),
                figures("wanted back at once", tier -> Figures.share(tier.thrashingRate())),
                figures("link busy", tier -> Figures.share(tier.utilisation()))));
  }
}
