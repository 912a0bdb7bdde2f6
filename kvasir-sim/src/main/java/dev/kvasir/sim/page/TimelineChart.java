package dev.kvasir.sim.page;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.report.Quantiles;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

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
    return new Chart(
        "Found in cache, by tier",
        "Share of prompt tokens that needed no computing, by the time of arrival.",
        Axis.clock(TIME, seconds),
        Axis.shares("share", 0),
        figures(Span::middleSeconds),
        tiers.stream()
            .map(tier -> Series.area(tier.word(), tier.level(), figures(span -> share(span, tier))))
            .toList());
  }

  private double share(Span span, Tier tier) {
    long found = 0;
    long all = 0;
    for (var request : span.requests()) {
      if (request.schedulingMicros() == RequestResult.NEVER) continue;
      found += (long) request.cached().on(tier) * blockTokens;
      all += request.request().promptTokens();
    }
    return all == 0 ? 0 : (double) found / all;
  }

  /** Draws how many requests waited and how many were computed. */
  Chart load() {
    var timeline = run.timeline();
    return new Chart(
        "Queue and batch",
        "Requests of all instances that waited, and that were being computed.",
        Axis.clock(TIME, seconds),
        Axis.numbers("requests", 0),
        perSpan(i -> (i + 0.5) * timeline.spanMicros() / 1e6),
        List.of(
            Series.line("waiting", 1, perSpan(timeline::waiting)),
            Series.line("running", 0, perSpan(timeline::running))));
  }

  private double[] perSpan(IntToDoubleFunction figure) {
    return IntStream.range(0, run.timeline().spans()).mapToDouble(figure).toArray();
  }

  /** Draws the waits for the first token, to show whether they grow. */
  Chart waits() {
    return new Chart(
        "First token, over time",
        "Time to the first token by the time of arrival. A line that climbs to the end tells of"
            + " more load than the cluster can carry.",
        Axis.clock(TIME, seconds),
        Axis.times(),
        figures(Span::middleSeconds),
        List.of(
            Series.line("p90", 1, figures(span -> ttftMicros(span, 90))),
            Series.line("p50", 0, figures(span -> ttftMicros(span, 50)))));
  }

  private static double ttftMicros(Span span, double percent) {
    var times = span.requests().stream().mapToLong(RequestResult::ttftMicros);
    return new Quantiles(times.filter(micros -> micros >= 0).toArray()).percentileMicros(percent);
  }

  private double[] figures(ToDoubleFunction<Span> figure) {
    return spans.stream().mapToDouble(figure).toArray();
  }
}
