package dev.kvasir.sim.page;

import static dev.kvasir.sim.page.Html.Column.figures;
import static dev.kvasir.sim.page.Html.Column.words;

import dev.kvasir.sim.report.BestPoint;
import dev.kvasir.sim.report.Comparison;
import dev.kvasir.sim.report.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The page about several settings: the best one, and the results of each. */
public final class ComparisonPage {
  private final Comparison comparison;
  private final BestPoint best;
  private final Page page;

  private ComparisonPage(Comparison comparison) {
    this.comparison = comparison;
    this.best = BestPoint.of(comparison);
    this.page =
        new Page(
            "Comparison of " + comparison.points().size() + " settings",
            "The same requests with different " + String.join(" and ", comparison.keys()) + ".");
  }

  /** The whole page. */
  public static String of(Comparison comparison, RunDescription description) {
    var made = new ComparisonPage(comparison);
    made.best();
    made.page.chapter("What it gives");
    made.page.charts(new Curves(comparison, made.best.index()).charts());
    made.page.chapter("All settings");
    made.table();
    made.page.inputs(description);
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
    var columns = new ArrayList<Html.Column<Comparison.Point>>();
    for (int i = 0; i < comparison.keys().size(); i++) {
      int key = i;
      columns.add(words(comparison.keys().get(key), point -> point.values().get(key)));
    }
    add(columns, "TTFT p50", summary -> Figures.millis(summary.ttft().p50()));
    add(columns, "p90", summary -> Figures.millis(summary.ttft().p90()));
    add(columns, "p99", summary -> Figures.millis(summary.ttft().p99()));
    add(columns, "ITL p50", summary -> Figures.millis(summary.itl().p50()));
    add(columns, "p99", summary -> Figures.millis(summary.itl().p99()));
    add(columns, "found in cache", summary -> Figures.share(summary.tokenHitRate()));
    add(columns, "within targets", summary -> Figures.share(summary.goodput().attainment()));
    add(columns, "goodput /s", summary -> Figures.digits(summary.goodput().requestsPerSecond()));
    columns.add(figures("GPUs", point -> Figures.count(point.fleet().gpus())));
    columns.add(figures("GiB below", point -> Figures.digits(point.fleet().gibBelow())));
    columns.add(figures(comparison.unit(), point -> Figures.digits(comparison.cost(point))));
    page.html().table(comparison.points(), columns, best.index());
  }

  private static void add(
      List<Html.Column<Comparison.Point>> columns, String head, Function<Summary, String> cell) {
    columns.add(figures(head, point -> cell.apply(point.summary())));
  }
}
