package dev.kvasir.sim.page;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.report.Quantiles;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;

/** Draws the course of a run over its time. */
final class TimelineChart {
  private static final int SPANS_MIN = 8;
  private static final int SPANS_MAX = 64;
  private static final int SPAN_REQUESTS = 20;
  private static final String TIME = "simulated time";

  private final RunResult run;
  private final int blockTokens;
  private final double seconds;
  private final List<Span> spans;

  TimelineChart(RunResult run, int blockTokens) {
    this.run = run;
    this.blockTokens = blockTokens;
    this.seconds = Math.max(1, run.endMicros()) / 1e6;
    this.spans = spans(run);
  }

  /** The requests that came in one span of time; there is no span without any. */
  private record Span(double middleSeconds, List<RequestResult> requests) {}

  /** Chooses the number of spans so that each has some requests, if arrivals are even. */
  private static List<Span> spans(RunResult run) {
    int count = Math.clamp(run.requests().size() / SPAN_REQUESTS, SPANS_MIN, SPANS_MAX);
    long last = 0;
    for (var each : run.requests()) last = Math.max(last, each.request().arrivalNanos() / 1000);
    double width = Math.max(1, last + 1) / 1e6 / count;
    var spans = new ArrayList<Span>();
    for (int i = 0; i < count; i++) spans.add(new Span((i + 0.5) * width, new ArrayList<>()));
    for (var each : run.requests()) {
      int index = (int) (each.request().arrivalNanos() / 1e9 / width);
      spans.get(Math.min(count - 1, index)).requests().add(each);
    }
    spans.removeIf(span -> span.requests().isEmpty());
    return spans;
  }

  /** Draws the share of the prompts that was found, tier upon tier. */
  Chart hits(List<Tier> tiers) {
    var x = middles();
    var floor = new double[x.length];
    var series = new ArrayList<Series>();
    var shares = new ArrayList<double[]>();
    for (var tier : tiers) {
      var share = shares(tier);
      var top = new double[x.length];
      for (int i = 0; i < x.length; i++) top[i] = Math.min(1, floor[i] + share[i]);
      series.add(Series.area(tier.word(), tier.level(), x, floor, top));
      shares.add(share);
      floor = top;
    }
    var head = new ArrayList<>(List.of("at"));
    for (var tier : tiers) head.add(tier.word());
    return new Chart(
        "Found in cache, by tier",
        "Share of prompt tokens that needed no computing, by the time of arrival.",
        Axis.clock(TIME, seconds),
        Axis.shares("share"),
        series,
        List.of(),
        head,
        rows(x, shares, Figures::share));
  }

  private double[] shares(Tier tier) {
    var shares = new double[spans.size()];
    for (int i = 0; i < shares.length; i++) {
      long found = 0;
      long all = 0;
      for (var request : spans.get(i).requests()) {
        if (request.schedulingMicros() == RequestResult.NEVER) continue;
        found += (long) request.cached().on(tier) * blockTokens;
        all += request.request().promptTokens();
      }
      shares[i] = all == 0 ? 0 : (double) found / all;
    }
    return shares;
  }

  /** Draws how many requests waited and how many were computed. */
  Chart load() {
    var timeline = run.timeline();
    int count = Math.max(1, timeline.spans());
    var x = new double[count];
    var waiting = new double[count];
    var running = new double[count];
    double most = 0;
    for (int i = 0; i < timeline.spans(); i++) {
      x[i] = (i + 0.5) * timeline.spanMicros() / 1e6;
      waiting[i] = timeline.waiting(i);
      running[i] = timeline.running(i);
      most = Math.max(most, Math.max(waiting[i], running[i]));
    }
    return new Chart(
        "Queue and batch",
        "Requests of all instances that waited, and that were being computed.",
        Axis.clock(TIME, seconds),
        Axis.fromZero("requests", most, Figures::brief),
        List.of(Series.line("waiting", 1, x, waiting), Series.line("running", 0, x, running)),
        List.of(),
        List.of("at", "waiting", "running"),
        rows(x, List.of(waiting, running), Figures::digits));
  }

  /** Draws the waits for the first token, to show whether they grow. */
  Chart waits() {
    var x = middles();
    var half = new double[x.length];
    var most = new double[x.length];
    double longest = 0;
    for (int i = 0; i < x.length; i++) {
      var times =
          spans.get(i).requests().stream()
              .mapToLong(RequestResult::ttftMicros)
              .filter(micros -> micros >= 0)
              .toArray();
      var quantiles = new Quantiles(times);
      half[i] = quantiles.percentileMicros(50);
      most[i] = quantiles.percentileMicros(90);
      longest = Math.max(longest, most[i]);
    }
    return new Chart(
        "First token, over time",
        "Time to the first token by the time of arrival. A line that climbs to the end tells of"
            + " more load than the cluster can carry.",
        Axis.clock(TIME, seconds),
        Axis.fromZero("time", longest, Figures::micros),
        List.of(Series.line("p90", 1, x, most), Series.line("p50", 0, x, half)),
        List.of(),
        List.of("at", "p90", "p50"),
        rows(x, List.of(most, half), Figures::micros));
  }

  private double[] middles() {
    return spans.stream().mapToDouble(Span::middleSeconds).toArray();
  }

  private static List<Chart.Row> rows(
      double[] x, List<double[]> columns, DoubleFunction<String> text) {
    var rows = new ArrayList<Chart.Row>();
    for (int i = 0; i < x.length; i++) {
      var cells = new ArrayList<>(List.of(Figures.seconds(x[i])));
      for (var column : columns) cells.add(text.apply(column[i]));
      rows.add(new Chart.Row(x[i], cells));
    }
    return rows;
  }
}
