package dev.kvasir.sim.page;

import dev.kvasir.sim.report.Best;
import dev.kvasir.sim.report.Comparison;
import java.util.ArrayList;
import java.util.List;

/** The page about several settings: the best one, and the results of each. */
public final class ComparisonPage {
  private final Comparison comparison;
  private final Best best;
  private final Page page;

  private ComparisonPage(Comparison comparison) {
    this.comparison = comparison;
    this.best = Best.of(comparison);
    this.page =
        new Page(
            "Comparison of " + comparison.points().size() + " settings",
            "The same requests with different " + String.join(" and ", comparison.keys()) + ".");
  }

  /** The whole page. */
  public static String of(Comparison comparison, RunDescription asked) {
    var made = new ComparisonPage(comparison);
    made.best();
    made.page.chapter("What it gives");
    made.page.charts(new Curves(comparison, made.best.index()).charts());
    made.page.chapter("All settings");
    made.table();
    made.page.asked(asked);
    return made.page.end();
  }

  private void best() {
    var html = page.html();
    var point = comparison.points().get(best.index());
    html.open("section", "class", "card").open("p").text("Best: ");
    html.element("strong", comparison.name(point)).close("p");
    html.element("p", sentence(best.reason()), "class", "aside").close("section");
    html.open("dl", "class", "figures");
    var summary = point.summary();
    page.headline("First token, p50", summary.ttft());
    page.headline(
        "Within targets",
        Figures.share(summary.goodput().attainment()),
        comparison.hasTargets()
            ? "asked for " + Figures.share(comparison.attainment())
            : "no targets: completed requests");
    page.headline(
        "Found in cache", Figures.share(summary.tokenHitRate()), "of the prompts' tokens");
    page.headline(
        "Hardware",
        point.fleet().gpus() + (point.fleet().gpus() == 1 ? " GPU" : " GPUs"),
        Figures.digits(point.fleet().gibBelow()) + " GiB below them");
    page.headline(
        "Cost of the run",
        Figures.digits(comparison.cost(point)),
        comparison.unit().equals("cost") ? "at the prices given" : "GPU-hours");
    html.close("dl");
  }

  private static String sentence(String text) {
    return Character.toUpperCase(text.charAt(0)) + text.substring(1) + ".";
  }

  private void table() {
    var heads = new ArrayList<>(comparison.keys());
    heads.addAll(
        List.of(
            "TTFT p50",
            "p90",
            "p99",
            "ITL p50",
            "p99",
            "found in cache",
            "within targets",
            "goodput /s",
            "GPUs",
            "GiB below",
            comparison.unit()));
    var rows = comparison.points().stream().map(this::cells).toList();
    page.html().table(heads, comparison.keys().size(), rows, best.index());
  }

  private List<String> cells(Comparison.Point point) {
    var summary = point.summary();
    var cells = new ArrayList<>(point.values());
    cells.add(Figures.millis(summary.ttft().p50()));
    cells.add(Figures.millis(summary.ttft().p90()));
    cells.add(Figures.millis(summary.ttft().p99()));
    cells.add(Figures.millis(summary.itl().p50()));
    cells.add(Figures.millis(summary.itl().p99()));
    cells.add(Figures.share(summary.tokenHitRate()));
    cells.add(Figures.share(summary.goodput().attainment()));
    cells.add(Figures.digits(summary.goodput().requestsPerSecond()));
    cells.add(Figures.count(point.fleet().gpus()));
    cells.add(Figures.digits(point.fleet().gibBelow()));
    cells.add(Figures.digits(comparison.cost(point)));
    return cells;
  }
}
