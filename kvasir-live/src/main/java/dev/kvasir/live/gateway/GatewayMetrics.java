package dev.kvasir.live.gateway;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.live.metrics.Histogram;
import dev.kvasir.live.metrics.MetricsText;
import dev.kvasir.live.metrics.MetricsText.Label;
import dev.kvasir.router.Router;
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
final class GatewayMetrics {
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

  MetricsText write(Router router, Roster roster, Dispatch dispatch) {
    var out = new MetricsText();
    counters(out, "kvasir_decisions_total", "Requests by class and reason.", decisions);
    counters(out, "kvasir_requests_total", "Requests by how they ended.", outcomes);
    counters(out, "kvasir_worker_requests_total", "Requests by who answered.", answered);
    out.counter("kvasir_retries_total", "Attempts after the first.", retries);
    tokens(out);
    out.histogram("kvasir_time_to_first_token_seconds", "Until the first token.", firstToken);
    out.histogram("kvasir_request_seconds", "Until the end.", whole);
    out.gauge("kvasir_requests_in_flight", "With the workers.", dispatch.inFlight());
    out.gauge("kvasir_requests_waiting", "Before them.", dispatch.waiting());
    out.gauge("kvasir_index_blocks", "Blocks the index knows.", router.index().size());
    out.gauge("kvasir_index_blocks_max", "Blocks it can know.", router.index().capacity());
    out.counter(
        "kvasir_index_evicted_total", "Blocks it had no room for.", router.index().evicted());
    out.gauge("kvasir_sessions", "Sessions with a home.", router.sessions());
    workers(out, router, roster);
    told(out, roster);
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

  private static void workers(MetricsText out, Router router, Roster roster) {
    for (var post : roster.shown()) {
      int ready = post.availability() == Availability.READY ? 1 : 0;
      out.gauge("kvasir_worker_ready", "Whether it is sent requests.", ready, label(post));
    }
    for (var post : roster.shown()) {
      var help = "Times that it was left alone for its failures.";
      out.counter("kvasir_worker_ejections_total", help, post.ejections(), label(post));
    }
    for (var post : roster.shown()) {
      var help = "Times that it was not, so that enough workers stay.";
      out.counter("kvasir_worker_ejections_withheld_total", help, post.withheld(), label(post));
    }
    for (var post : roster.shown()) {
      int count = router.load(post.id()).inFlight();
      out.gauge("kvasir_worker_in_flight", "What is booked there.", count, label(post));
    }
    for (var post : roster.shown()) {
      double tokens = (double) router.load(post.id()).prefillTokens();
      out.gauge("kvasir_worker_prefill_tokens", "To be prefilled there.", tokens, label(post));
    }
    for (var post : roster.shown()) {
      for (var tier : Tier.values()) {
        var name = new Label("tier", tier.name().toLowerCase(Locale.ROOT));
        double held = router.index().held(post.id(), tier);
        out.gauge("kvasir_worker_blocks", "Blocks the index finds there.", held, label(post), name);
      }
    }
  }

  /** What workers tell of themselves at /metrics; nothing of one that has not told lately. */
  private static void told(MetricsText out, Roster roster) {
    var name = "kvasir_worker_told_";
    told(out, roster, name + "waiting", "Requests that wait there.", r -> r.signals().queueDepth());
    told(out, roster, name + "running", "Requests that run there.", r -> r.signals().batchSize());
    told(
        out,
        roster,
        name + "kv_cache_usage",
        "Share of its KV cache in use.",
        r -> r.signals().kvUtilisation());
    told(
        out,
        roster,
        name + "prefix_cache_hit_rate",
        "Share of prompt tokens that its own KV cache had.",
        WorkerMetrics.Report::hitRate);
    told(
        out,
        roster,
        name + "external_prefix_cache_hit_rate",
        "Share of prompt tokens looked up outside its own KV cache that were there.",
        WorkerMetrics.Report::externalHitRate);
    told(
        out,
        roster,
        name + "gpu_utilisation",
        "Share of the time that its GPUs compute.",
        WorkerMetrics.Report::gpuUtilisation);
  }

  private static void told(
      MetricsText out,
      Roster roster,
      String name,
      String help,
      ToDoubleFunction<WorkerMetrics.Report> figure) {
    for (var post : roster.shown()) {
      double value = figure.applyAsDouble(roster.report(post));
      if (value != EngineSignals.UNKNOWN) out.gauge(name, help, value, label(post));
    }
  }

  private static Label label(Roster.Post post) {
    return new Label("worker", post.worker().name());
  }

  private static void counters(
      MetricsText out, String name, String help, Map<List<Label>, Long> counts) {
    counts.forEach((labels, count) -> out.counter(name, help, count, labels.toArray(Label[]::new)));
  }

  private static void bump(Map<List<Label>, Long> counts, Label... labels) {
    counts.merge(List.of(labels), 1L, Long::sum);
  }
}
