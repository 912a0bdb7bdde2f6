package dev.kvasir.sim.page;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.report.Comparison;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.report.Summary.Spread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/**
 * Draws what a comparison found.
 *
 * <p>The key with the most values runs along the pictures; each setting of the others is a curve.
 */
final class Curves {
  private static final int COLOURS = 8;

  private final Comparison comparison;
  private final int best;
  private final int along;
  private final List<String> words;
  private final SequencedMap<String, List<Comparison.Point>> curves = new LinkedHashMap<>();

  Curves(Comparison comparison, int best) {
    this.comparison = comparison;
    this.best = best;
    this.along = longestKey();
    this.words = values(along);
    for (var point : comparison.points()) {
      curves.computeIfAbsent(others(point), name -> new ArrayList<>()).add(point);
    }
  }

  private int longestKey() {
    int longest = 0;
    for (int key = 1; key < comparison.keys().size(); key++) {
      if (values(key).size() > values(longest).size()) longest = key;
    }
    return longest;
  }

  private List<String> values(int key) {
    return comparison.points().stream().map(point -> point.values().get(key)).distinct().toList();
  }

  private String others(Comparison.Point point) {
    var names = new ArrayList<String>();
    for (int key = 0; key < comparison.keys().size(); key++) {
      if (key != along) names.add(comparison.keys().get(key) + "=" + point.values().get(key));
    }
    return String.join(", ", names);
  }

  List<Chart> charts() {
    var charts = new ArrayList<Chart>();
    charts.add(costs());
    if (curves.size() == 1) {
      charts.add(times());
      charts.add(tiers());
    } else {
      charts.add(each("First token, p50", ttft(Spread::p50), this::timeAxis, Figures::micros));
      charts.add(each("First token, p90", ttft(Spread::p90), this::timeAxis, Figures::micros));
      charts.add(each("First token, p99", ttft(Spread::p99), this::timeAxis, Figures::micros));
      charts.add(
          each(
              "Found in cache",
              point -> point.summary().tokenHitRate(),
              most -> Axis.shares("share"),
              Figures::share));
    }
    if (comparison.points().stream().anyMatch(point -> point.summary().offloadShare() > 0)) {
      charts.add(
          each(
              "Heavy prompts computed elsewhere",
              point -> point.summary().offloadShare(),
              most -> Axis.shares("share"),
              Figures::share));
    }
    charts.add(each("Within targets", Curves::kept, most -> Axis.shares("share"), Figures::share));
    charts.add(
        each(
            "Goodput, requests a second",
            point -> point.summary().goodput().requestsPerSecond(),
            most -> Axis.fromZero("requests/s", most, Figures::digits),
            Figures::digits));
    return charts;
  }

  private Chart costs() {
    var sorted = new ArrayList<>(comparison.points());
    sorted.sort((one, two) -> Double.compare(comparison.cost(one), comparison.cost(two)));
    var rows = new ArrayList<Chart.Row>();
    double floor = comparison.attainment();
    for (var point : sorted) {
      floor = Math.min(floor, kept(point));
      rows.add(
          new Chart.Row(
              comparison.cost(point),
              List.of(
                  comparison.name(point),
                  Figures.digits(comparison.cost(point)),
                  Figures.share(kept(point)))));
    }
    var chosen = comparison.points().get(best);
    var series = new ArrayList<Series>();
    series.add(frontier(sorted));
    series.add(points("settings", 7, sorted));
    series.add(points("best", 0, List.of(chosen)));
    double most = comparison.cost(sorted.getLast());
    return new Chart(
        "Cost against targets",
        "Up and to the left is better: more requests within their targets for less. The line joins"
            + " the settings that no other beats on both.",
        Axis.fromZero(comparison.unit(), most, Figures::digits),
        Axis.sharesFrom("within targets", Math.max(0, floor - 0.02)),
        series,
        List.of(
            new Chart.Mark(
                Chart.Direction.LEVEL,
                comparison.attainment(),
                Figures.share(comparison.attainment()) + " asked for")),
        List.of("setting", comparison.unit(), "within"),
        rows);
  }

  /** Cheapest first, each one better than all that cost less. */
  private Series frontier(List<Comparison.Point> sorted) {
    var front = new ArrayList<Comparison.Point>();
    for (var point : sorted) {
      if (front.isEmpty() || kept(point) > kept(front.getLast())) front.add(point);
    }
    return Series.line("nothing better for less", 1, costs(front), figures(front, Curves::kept));
  }

  private Series points(String name, int colour, List<Comparison.Point> points) {
    return Series.dots(name, colour, costs(points), figures(points, Curves::kept));
  }

  private double[] costs(List<Comparison.Point> points) {
    return figures(points, comparison::cost);
  }

  /** One curve's percentiles together. */
  private Chart times() {
    var points = curves.firstEntry().getValue();
    var series =
        List.of(
            Series.dotted("p99", 3, places(points), figures(points, ttft(Spread::p99))),
            Series.dotted("p90", 1, places(points), figures(points, ttft(Spread::p90))),
            Series.dotted("p50", 0, places(points), figures(points, ttft(Spread::p50))));
    return chart("Time to the first token", series, timeAxis(highest(series)), Figures::micros);
  }

  /** One curve's hits, tier upon tier. */
  private Chart tiers() {
    var points = curves.firstEntry().getValue();
    var series = new ArrayList<Series>();
    var tops = new double[points.size()];
    for (var tier : Tier.values()) {
      var shares = figures(points, point -> share(point.summary(), tier));
      for (int i = 0; i < tops.length; i++) tops[i] += shares[i];
      if (highest(shares) == 0) continue;
      series.add(
          Series.dotted("down to " + tier.word(), tier.level(), places(points), tops.clone()));
    }
    return chart("Found in cache, by tier", series, Axis.shares("share"), Figures::share);
  }

  private static double share(Summary summary, Tier tier) {
    for (var total : summary.tiers()) {
      if (total.tier() == tier && summary.totalInputTokens() > 0) {
        return (double) total.hitTokens() / summary.totalInputTokens();
      }
    }
    return 0;
  }

  private Chart each(
      String title,
      ToDoubleFunction<Comparison.Point> figure,
      DoubleFunction<Axis> axis,
      DoubleFunction<String> text) {
    var series = new ArrayList<Series>();
    for (var curve : curves.sequencedEntrySet()) {
      var points = curve.getValue();
      var name = curve.getKey().isEmpty() ? title : curve.getKey();
      int colour = series.size() % COLOURS;
      series.add(Series.dotted(name, colour, places(points), figures(points, figure)));
    }
    return chart(title, series, axis.apply(highest(series)), text);
  }

  private Chart chart(String title, List<Series> series, Axis axis, DoubleFunction<String> text) {
    var key = comparison.keys().get(along);
    var head = new ArrayList<>(List.of(key));
    for (var each : series) head.add(each.name());
    var rows = new ArrayList<Chart.Row>();
    for (int i = 0; i < words.size(); i++) {
      var cells = new ArrayList<>(List.of(words.get(i)));
      for (var each : series) cells.add(i < each.y().length ? text.apply(each.y()[i]) : "");
      rows.add(new Chart.Row(i, cells));
    }
    return new Chart(
        title, "By " + key + ".", Axis.words(key, words), axis, series, List.of(), head, rows);
  }

  private Axis timeAxis(double mostMicros) {
    return Axis.fromZero("time", mostMicros, Figures::micros);
  }

  private double[] places(List<Comparison.Point> points) {
    return figures(points, point -> words.indexOf(point.values().get(along)));
  }

  private static double[] figures(
      List<Comparison.Point> points, ToDoubleFunction<Comparison.Point> figure) {
    return points.stream().mapToDouble(figure).toArray();
  }

  private static double highest(List<Series> series) {
    double most = 0;
    for (var each : series) most = Math.max(most, highest(each.y()));
    return most;
  }

  private static double highest(double[] values) {
    double most = 0;
    for (double value : values) most = Math.max(most, value);
    return most;
  }

  private static double kept(Comparison.Point point) {
    return point.summary().goodput().attainment();
  }

  private static ToDoubleFunction<Comparison.Point> ttft(ToDoubleFunction<Spread> millis) {
    return point -> millis.applyAsDouble(point.summary().ttft()) * 1000;
  }
}
