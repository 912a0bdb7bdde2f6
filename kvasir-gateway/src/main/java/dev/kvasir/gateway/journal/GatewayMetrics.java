package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.worker.GatewayWorkers;
import dev.kvasir.gateway.worker.LiveWorker;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.net.metrics.Histogram;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricSet.Rows;
import dev.kvasir.net.metrics.MetricsText.Label;
import dev.kvasir.net.worker.WorkerReport;
import dev.kvasir.router.Router;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.BookedLoad;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.worker.Need;
import dev.kvasir.router.worker.WorkerEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Metrics that a gateway tells of itself, in the text format of Prometheus; belongs to the router's
 * loop.
 *
 * <p>Labels are workers, classes, reasons and outcomes, which are few; never tenants or requests.
 */
public final class GatewayMetrics {
  /** Requests by one label or two; most of them count where the last one did. */
  private static final class Tally {
    private final String name;
    private final String secondName;
    private final Map<List<String>, Counted> byValues = new HashMap<>();
    private final List<Counted> rows = new ArrayList<>();
    private @Nullable Counted last;

    Tally(String name, String secondName) {
      this.name = name;
      this.secondName = secondName;
    }

    void add(String value, String second) {
      var row = last;
      if (row == null || !row.value.equals(value) || !row.second.equals(second)) {
        row = byValues.computeIfAbsent(List.of(value, second), _ -> begin(value, second));
        last = row;
      }
      row.count++;
    }

    private Counted begin(String value, String second) {
      var labels = new ArrayList<Label>(List.of(new Label(name, value)));
      if (!secondName.isEmpty()) labels.add(new Label(secondName, second));
      var row = new Counted(value, second, labels);
      rows.add(row);
      return row;
    }
  }

  /** One of its counts. */
  private static final class Counted {
    private final String value;
    private final String second;
    private final List<Label> labels;
    private long count;

    Counted(String value, String second, List<Label> labels) {
      this.value = value;
      this.second = second;
      this.labels = labels;
    }
  }

  private final Tally decisions = new Tally("route_class", "reason");
  private final Tally outcomes = new Tally("outcome", "status");
  private final Tally answered = new Tally("worker", "");
  private final Tally paths = new Tally("path", "");
  private final Histogram firstToken = Histogram.ofSeconds();
  private final Histogram whole = Histogram.ofSeconds();
  private long retries;
  private long promptTokens;
  private long expectedTokens;
  private long reportedPromptTokens;
  private long reportedCachedTokens;
  private long outputTokens;

  void count(Decision decision) {
    var ending = decision.ending();
    outcomes.add(ending.outcome().label(), Integer.toString(ending.status()));
    paths.add(decision.request().path(), "");
    retries += Math.max(0, decision.attempts() - 1);
    whole.add(decision.seconds());
    var route = decision.route();
    if (route == null) return;
    decisions.add(route.routeClass(), route.reason());
    answered.add(decision.decode(), "");
    if (decision.firstTokenSeconds() >= 0) firstToken.add(decision.firstTokenSeconds());
    promptTokens += route.promptTokens();
    expectedTokens += route.promptTokens() - route.uncachedTokens();
    outputTokens += ending.outputTokens();
    if (ending.usage().promptTokens() >= 0 && ending.usage().cachedTokens() >= 0) {
      reportedPromptTokens += ending.usage().promptTokens();
      reportedCachedTokens += ending.usage().cachedTokens();
    }
  }

  /** Source of the metrics, which are read on the router's loop. */
  public record Source(
      GatewayMetrics counts, Router router, GatewayWorkers workers, RequestFlow flow) {}

  /** A worker that is shown, and where its figures are. */
  private record Row(WorkerEntry<LiveWorker> entry, Source source) {
    BookedLoad booked() {
      return source.router.booked(entry.id());
    }

    Load load() {
      return source.router.load(entry.id());
    }

    WorkerReport report() {
      return source.workers.report(entry);
    }
  }

  public static final MetricSet<Source> METRICS =
      new MetricSet<Source>()
          .per(
              s -> s.counts.decisions.rows,
              row -> row.labels,
              rows ->
                  rows.counter(
                      "kvasir_decisions_total", "Requests by class and reason.", row -> row.count))
          .per(
              s -> s.counts.outcomes.rows,
              row -> row.labels,
              rows ->
                  rows.counter(
                      "kvasir_requests_total", "Requests by outcome and status.", row -> row.count))
          .per(
              s -> s.counts.answered.rows,
              row -> row.labels,
              rows ->
                  rows.counter(
                      "kvasir_worker_requests_total",
                      "Requests by the worker that answered.",
                      row -> row.count))
          .per(
              s -> s.counts.paths.rows,
              row -> row.labels,
              rows ->
                  rows.counter("kvasir_path_requests_total", "Requests by path.", row -> row.count))
          .once(GatewayMetrics::requests)
          .once(GatewayMetrics::index)
          .per(GatewayMetrics::rows, GatewayMetrics::labels, GatewayMetrics::workers)
          .per(GatewayMetrics::rows, GatewayMetrics::labels, GatewayMetrics::addWorkerReports);

  /** The share of cached tokens is the quotient of two reported sums, not a mean of rates. */
  private static void requests(Rows<Source> rows) {
    rows.counter("kvasir_retries_total", "Attempts after the first.", s -> s.counts.retries)
        .counter("kvasir_prompt_tokens_total", "Tokens of prompts.", s -> s.counts.promptTokens)
        .counter(
            "kvasir_expected_cached_tokens_total",
            "Tokens of prompts that the index expected where they went.",
            s -> s.counts.expectedTokens)
        .counter(
            "kvasir_told_prompt_tokens_total",
            "Tokens of prompts that workers reported, where they report cached ones.",
            s -> s.counts.reportedPromptTokens)
        .counter(
            "kvasir_told_cached_tokens_total",
            "Cached tokens that workers reported, local and external.",
            s -> s.counts.reportedCachedTokens)
        .counter("kvasir_output_tokens_total", "Tokens of answers.", s -> s.counts.outputTokens)
        .histogram(
            "kvasir_time_to_first_token_seconds",
            "Time to the first token.",
            s -> s.counts.firstToken)
        .histogram("kvasir_request_seconds", "Time to the end.", s -> s.counts.whole)
        .gauge("kvasir_requests_in_flight", "Requests with workers.", s -> s.flow.inFlight())
        .gauge("kvasir_requests_waiting", "Requests in the queue.", s -> s.flow.waiting());
  }

  private static void index(Rows<Source> rows) {
    rows.gauge("kvasir_index_blocks", "Blocks the index knows.", s -> s.router.index().size())
        .gauge("kvasir_index_blocks_max", "Blocks it can know.", s -> s.router.index().capacity())
        .counter(
            "kvasir_index_evicted_total",
            "Blocks it had no room for.",
            s -> s.router.index().evicted())
        .gauge(
            "kvasir_unlike_models",
            "Names under which workers serve other models than each other.",
            s -> s.workers.unlikeModels().size())
        .gauge("kvasir_sessions", "Sessions that have a worker.", s -> s.router.sessions());
  }

  private static void workers(Rows<Row> rows) {
    rows.gauge(
            "kvasir_worker_ready",
            "1 for a worker that is sent requests.",
            r -> r.entry.availability() == Availability.READY ? 1 : 0)
        .counter(
            "kvasir_worker_ejections_total",
            "Times that it was left alone for its failures.",
            r -> r.entry.ejections())
        .counter(
            "kvasir_worker_ejections_withheld_total",
            "Times that it was not, so that enough workers stay.",
            r -> r.entry.withheld())
        .gauge(
            "kvasir_worker_in_flight",
            "Requests that this gateway has booked there.",
            r -> r.booked().inFlight())
        .gauge(
            "kvasir_worker_in_flight_elsewhere",
            "Requests that the other gateways have booked there, as far as this one knows.",
            r -> r.load().inFlight() - r.booked().inFlight())
        .gauge(
            "kvasir_worker_prefill_tokens",
            "Tokens to be prefilled there.",
            r -> r.load().prefillTokens())
        .gauges(
            "kvasir_worker_lacks",
            "1 for what it is not sent, since it could not answer it.",
            "need",
            GatewayMetrics::lacks)
        .gauges(
            "kvasir_worker_blocks", "Blocks the index finds there.", "tier", GatewayMetrics::held);
  }

  private static Map<String, Double> lacks(Row row) {
    var lacking = row.entry.lacks(row.source.router.nanos());
    var lacks = new LinkedHashMap<String, Double>();
    for (var need : Need.values()) lacks.put(need.label(), lacking.contains(need) ? 1.0 : 0.0);
    return lacks;
  }

  private static Map<String, Double> held(Row row) {
    var held = new LinkedHashMap<String, Double>();
    for (var tier : Tier.values()) {
      held.put(tier.word(), (double) row.source.router.index().held(row.entry.id(), tier));
    }
    return held;
  }

  /** Adds the signals that workers report at /metrics; none of a worker without a recent report. */
  private static void addWorkerReports(Rows<Row> rows) {
    rows.gauge(
            "kvasir_worker_told_waiting",
            "Requests that wait there, by its own account.",
            r -> known(r.report().signals().queueDepth()))
        .gauge(
            "kvasir_worker_told_running",
            "Requests that run there, by its own account.",
            r -> known(r.report().signals().batchSize()))
        .gauge(
            "kvasir_worker_told_kv_cache_usage",
            "Share of its KV cache in use.",
            r -> known(r.report().signals().kvUtilisation()))
        .gauge(
            "kvasir_worker_told_prefix_cache_hit_rate",
            "Share of prompt tokens that its own KV cache had.",
            r -> known(r.report().hitRate()))
        .gauge(
            "kvasir_worker_told_external_prefix_cache_hit_rate",
            "Share of prompt tokens looked up outside its own KV cache that were there.",
            r -> known(r.report().externalHitRate()))
        .gauge(
            "kvasir_worker_told_gpu_utilisation",
            "Share of the time that its GPUs compute.",
            r -> known(r.report().gpuUtilisation()));
  }

  private static double known(double value) {
    return value == EngineSignals.UNKNOWN ? Double.NaN : value;
  }

  private static List<Row> rows(Source source) {
    return source.workers.shown().stream().map(entry -> new Row(entry, source)).toList();
  }

  private static List<Label> labels(Row row) {
    return List.of(new Label("worker", row.entry.worker().name()));
  }
}
