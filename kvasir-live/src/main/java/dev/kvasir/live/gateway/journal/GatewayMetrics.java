package dev.kvasir.live.gateway.journal;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.live.gateway.worker.GatewayWorkers;
import dev.kvasir.live.gateway.worker.LiveWorker;
import dev.kvasir.live.gateway.worker.WorkerMetrics;
import dev.kvasir.live.metrics.Histogram;
import dev.kvasir.live.metrics.MetricsText;
import dev.kvasir.live.metrics.MetricsText.Label;
import dev.kvasir.router.Router;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.flow.WorkerEntry;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.EngineSignals;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What a gateway tells of itself, in the text format of Prometheus; belongs to the router's loop.
 *
 * <p>Labels are workers, classes, reasons and outcomes, which are few; never tenants or requests.
 */
public final class GatewayMetrics {
  private final Map<List<Label>, Long> decisions = new LinkedHashMap<>();
  private final Map<List<Label>, Long> outcomes = new LinkedHashMap<>();
  private final Map<List<Label>, Long> answered = new LinkedHashMap<>();
  private final Histogram firstToken = Histogram.ofSeconds();
  private final Histogram whole = Histogram.ofSeconds();
  private long retries;
  private long promptTokens;
  private long expectedTokens;
  private long toldPromptTokens;
  private long toldCachedTokens;
  private long outputTokens;

  void count(Decision decision) {
    var ending = decision.ending();
    bump(
        outcomes,
        new Label("outcome", ending.outcome().label()),
        new Label("status", Integer.toString(ending.status())));
    retries += Math.max(0, decision.attempts() - 1);
    whole.add(decision.seconds());
    var route = decision.route();
    if (route == null) return;
    bump(
        decisions,
        new Label("route_class", route.routeClass()),
        new Label("reason", route.reason()));
    bump(answered, new Label("worker", decision.decode()));
    if (decision.firstTokenSeconds() >= 0) firstToken.add(decision.firstTokenSeconds());
    promptTokens += route.promptTokens();
    expectedTokens += route.promptTokens() - route.uncachedTokens();
    outputTokens += ending.outputTokens();
    if (ending.usage().promptTokens() >= 0 && ending.usage().cachedTokens() >= 0) {
      toldPromptTokens += ending.usage().promptTokens();
      toldCachedTokens += ending.usage().cachedTokens();
    }
  }

  public MetricsText write(Router router, GatewayWorkers workers, RequestFlow flow) {
    var out = new MetricsText();
    counters(out, "kvasir_decisions_total", "Requests by class and reason.", decisions);
    counters(out, "kvasir_requests_total", "Requests by how they ended.", outcomes);
    counters(out, "kvasir_worker_requests_total", "Requests by who answered.", answered);
    out.counter("kvasir_retries_total", "Attempts after the first.", retries);
    tokens(out);
    out.histogram("kvasir_time_to_first_token_seconds", "Until the first token.", firstToken);
    out.histogram("kvasir_request_seconds", "Until the end.", whole);
    out.gauge("kvasir_requests_in_flight", "With the workers.", flow.inFlight());
    out.gauge("kvasir_requests_waiting", "Before them.", flow.waiting());
    out.gauge("kvasir_index_blocks", "Blocks the index knows.", router.index().size());
    out.gauge("kvasir_index_blocks_max", "Blocks it can know.", router.index().capacity());
    out.counter(
        "kvasir_index_evicted_total", "Blocks it had no room for.", router.index().evicted());
    out.gauge("kvasir_sessions", "Sessions with a home.", router.sessions());
    workers(out, router, workers);
    told(out, workers);
    return out;
  }

  /** The share of cached tokens is told over told, not a mean of rates. */
  private void tokens(MetricsText out) {
    out.counter("kvasir_prompt_tokens_total", "Tokens of prompts.", promptTokens);
    out.counter(
        "kvasir_expected_cached_tokens_total",
        "Tokens of prompts that the index expected where they went.",
        expectedTokens);
    out.counter(
        "kvasir_told_prompt_tokens_total",
        "Tokens of prompts by the workers' account, where it tells of cached ones.",
        toldPromptTokens);
    out.counter(
        "kvasir_told_cached_tokens_total",
        "Cached tokens by the workers' account, local and external.",
        toldCachedTokens);
    out.counter("kvasir_output_tokens_total", "Tokens of answers.", outputTokens);
  }

  private static void workers(MetricsText out, Router router, GatewayWorkers workers) {
    for (var entry : workers.shown()) {
      int ready = entry.availability() == Availability.READY ? 1 : 0;
      out.gauge("kvasir_worker_ready", "Whether it is sent requests.", ready, label(entry));
    }
    for (var entry : workers.shown()) {
      var help = "Times that it was left alone for its failures.";
      out.counter("kvasir_worker_ejections_total", help, entry.ejections(), label(entry));
    }
    for (var entry : workers.shown()) {
      var help = "Times that it was not, so that enough workers stay.";
      out.counter("kvasir_worker_ejections_withheld_total", help, entry.withheld(), label(entry));
    }
    for (var entry : workers.shown()) {
      int count = router.load(entry.id()).inFlight();
      out.gauge("kvasir_worker_in_flight", "What is booked there.", count, label(entry));
    }
    for (var entry : workers.shown()) {
      double tokens = (double) router.load(entry.id()).prefillTokens();
      out.gauge("kvasir_worker_prefill_tokens", "To be prefilled there.", tokens, label(entry));
    }
    for (var entry : workers.shown()) {
      for (var tier : Tier.values()) {
        var name = new Label("tier", tier.name().toLowerCase(Locale.ROOT));
        double held = router.index().held(entry.id(), tier);
        out.gauge(
            "kvasir_worker_blocks", "Blocks the index finds there.", held, label(entry), name);
      }
    }
  }

  /** What workers tell of themselves at /metrics; nothing of one that has not told lately. */
  private static void told(MetricsText out, GatewayWorkers workers) {
    var name = "kvasir_worker_told_";
    told(
        out, workers, name + "waiting", "Requests that wait there.", r -> r.signals().queueDepth());
    told(out, workers, name + "running", "Requests that run there.", r -> r.signals().batchSize());
    told(
        out,
        workers,
        name + "kv_cache_usage",
        "Share of its KV cache in use.",
        r -> r.signals().kvUtilisation());
    told(
        out,
        workers,
        name + "prefix_cache_hit_rate",
        "Share of prompt tokens that its own KV cache had.",
        WorkerMetrics.Report::hitRate);
    told(
        out,
        workers,
        name + "external_prefix_cache_hit_rate",
        "Share of prompt tokens looked up outside its own KV cache that were there.",
        WorkerMetrics.Report::externalHitRate);
    told(
        out,
        workers,
        name + "gpu_utilisation",
        "Share of the time that its GPUs compute.",
        WorkerMetrics.Report::gpuUtilisation);
  }

  private static void told(
      MetricsText out,
      GatewayWorkers workers,
      String name,
      String help,
      ToDoubleFunction<WorkerMetrics.Report> figure) {
    for (var entry : workers.shown()) {
      double value = figure.applyAsDouble(workers.report(entry));
      if (value != EngineSignals.UNKNOWN) out.gauge(name, help, value, label(entry));
    }
  }

  private static Label label(WorkerEntry<LiveWorker> entry) {
    return new Label("worker", entry.worker().name());
  }

  private static void counters(
      MetricsText out, String name, String help, Map<List<Label>, Long> counts) {
    counts.forEach((labels, count) -> out.counter(name, help, count, labels.toArray(Label[]::new)));
  }

  private static void bump(Map<List<Label>, Long> counts, Label... labels) {
    counts.merge(List.of(labels), 1L, Long::sum);
  }
}
