package dev.kvasir.sim.page;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.report.Comparison;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.report.Summary.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Draws what a comparison found.
 *
 * <p>The key with the most values runs along the pictures; each setting of the others is a curve.
 */
final class Curves {
  private static final int COLOURS = 8;
  private static final Axis SHARES = Axis.shares("share", 0);

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
      charts.add(each("First token, p50", Axis.times(), ttft(Spread::p50)));
      charts.add(each("First token, p90", Axis.times(), ttft(Spread::p90)));
      charts.add(each("First token, p99", Axis.times(), ttft(Spread::p99)));
      charts.add(each("Found in cache", SHARES, point -> point.summary().tokenHitRate()));
    }
    if (comparison.points().stream().anyMatch(point -> point.summary().offloadShare() > 0)) {
      charts.add(
          each(
              "Heavy prompts computed elsewhere", SHARES, point -> point.summary().offloadShare()));
    }
    charts.add(each("Within targets", SHARES, Curves::kept));
    charts.add(
        each(
            "Goodput, requests a second",
            Axis.numbers("requests/s", 0),
            point -> point.summary().goodput().requestsPerSecond()));
    return charts;
  }

  private Chart costs() {
    var sorted = new ArrayList<>(comparison.points());
    sorted.sort((one, two) -> Double.compare(comparison.cost(one), comparison.cost(two)));
    var costs = sorted.stream().mapToDouble(comparison::cost).toArray();
    var kept = sorted.stream().mapToDouble(Curves::kept).toArray();
    var chosen = new double[kept.length];
    Arrays.fill(chosen, Double.NaN);
    int at = sorted.indexOf(comparison.points().get(best));
    chosen[at] = kept[at];
    double attainment = comparison.attainment();
    double floor = Math.min(attainment, DoubleStream.of(kept).min().orElse(1));
    return new Chart(
        "Cost against targets",
        "Up and to the left is better: more requests within their targets for less. The line joins"
            + " the settings that no other beats on both.",
        Axis.numbers(comparison.unit(), 1.05 * costs[costs.length - 1]),
        Axis.shares("within targets", Math.max(0, floor - 0.02)),
        costs,
        sorted.stream().map(comparison::name).toList(),
        List.of(
            Series.dots("best", 0, chosen),
            Series.dots("settings", 7, kept),
            Series.line("nothing better for less", 1, frontier(kept))),
        List.of(
            new Chart.Mark(
                Chart.Direction.LEVEL, attainment, Figures.share(attainment) + " asked for")));
  }

  /** Keeps each value that is better than all before it, which cost less. */
  private static double[] frontier(double[] kept) {
    var front = new double[kept.length];
    double most = -1;
    for (int i = 0; i < front.length; i++) {
      front[i] = kept[i] > most ? kept[i] : Double.NaN;
      most = Math.max(most, kept[i]);
    }
    return front;
  }

  /** One curve's percentiles together. */
  private Chart times() {
    var points = curves.firstEntry().getValue();
    return chart(
        "Time to the first token",
        Axis.times(),
        List.of(
            Series.dotted("p99", 3, figures(points, ttft(Spread::p99))),
            Series.dotted("p90", 1, figures(points, ttft(Spread::p90))),
            Series.dotted("p50", 0, figures(points, ttft(Spread::p50)))));
  }

  /** One curve's hits, tier upon tier. */
  private Chart tiers() {
    var points = curves.firstEntry().getValue();
    var series = new ArrayList<Series>();
    var tops = new double[words.size()];
    for (var tier : Tier.values()) {
      var shares = figures(points, point -> share(point.summary(), tier));
      for (int i = 0; i < tops.length; i++) tops[i] += shares[i];
      if (DoubleStream.of(shares).noneMatch(share -> share > 0)) continue;
      series.add(Series.dotted("down to " + tier.word(), tier.level(), tops.clone()));
    }
    return chart("Found in cache, by tier", SHARES, series);
  }

  private static double share(Summary summary, Tier tier) {
    for (var total : summary.tiers()) {
      if (total.tier() == tier && summary.totalInputTokens() > 0) {
        return (double) total.hitTokens() / summary.totalInputTokens();
      }
    }
    return 0;
  }

  private Chart each(String title, Axis axis, ToDoubleFunction<Comparison.Point> figure) {
    var series = new ArrayList<Series>();
    for (var curve : curves.sequencedEntrySet()) {
      var name = curve.getKey().isEmpty() ? title : curve.getKey();
      series.add(Series.dotted(name, series.size() % COLOURS, figures(curve.getValue(), figure)));
    }
    return chart(title, axis, series);
  }

  private Chart chart(String title, Axis axis, List<Series> series) {
    var key = comparison.keys().get(along);
    var places = IntStream.range(0, words.size()).asDoubleStream().toArray();
    return new Chart(title, "By " + key + ".", Axis.words(key, words), axis, places, series);
  }

  /** Returns the figure at each word; NaN where the curve has no point. */
  private double[] figures(
      List<Comparison.Point> points, ToDoubleFunction<Comparison.Point> figure) {
    var figures = new double[words.size()];
    Arrays.fill(figures, Double.NaN);
    for (var point : points) {
      figures[words.indexOf(point.values().get(along))] = figure.applyAsDouble(point);
    }
    return figures;
  }

  private static double kept(Comparison.Point point) {
    return point.summary().goodput().attainment();
  }

  private static ToDoubleFunction<Comparison.Point> ttft(ToDoubleFunction<Spread> millis) {
    return point -> millis.applyAsDouble(point.summary().ttft()) * 1000;
  }
}
