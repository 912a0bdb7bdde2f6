package dev.kvasir.live.gateway;

import dev.kvasir.router.Availability;
import dev.kvasir.router.Router;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a gateway tells of itself, in the text format of Prometheus; belongs to the router's loop.
 *
 * <p>Labels are workers, classes, reasons and outcomes, which are few; never tenants or requests.
 */
final class GatewayMetrics {
  static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final double[] SECONDS = {
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40,
    80, 160, 640, 2560
  };

  /** How often a value was at most each of the bounds. */
  private static final class Histogram {
    private final long[] counts = new long[SECONDS.length];
    private long count;
    private double sum;

    void add(double seconds) {
      count++;
      sum += seconds;
      for (int i = 0; i < SECONDS.length; i++) if (seconds <= SECONDS[i]) counts[i]++;
    }

    void write(MetricText out, String name, String help) {
      out.head(name, "histogram", help);
      for (int i = 0; i < SECONDS.length; i++) {
        out.line(name + "_bucket", "le=\"" + SECONDS[i] + "\"", counts[i]);
      }
      out.line(name + "_bucket", "le=\"+Inf\"", count);
      out.line(name + "_sum", "", sum);
      out.line(name + "_count", "", count);
    }
  }

  private final Map<String, Long> decisions = new LinkedHashMap<>();
  private final Map<String, Long> outcomes = new LinkedHashMap<>();
  private final Map<String, Long> answered = new LinkedHashMap<>();
  private final Histogram firstToken = new Histogram();
  private final Histogram whole = new Histogram();
  private long retries;
  private long promptTokens;
  private long expectedTokens;
  private long toldPromptTokens;
  private long toldCachedTokens;
  private long outputTokens;

  void count(Decision decision) {
    var ending = decision.ending();
    var status = MetricText.label("status", Integer.toString(ending.status()));
    bump(outcomes, MetricText.label("outcome", ending.outcome().label()) + "," + status);
    retries += Math.max(0, decision.attempts() - 1);
    whole.add(decision.seconds());
    var route = decision.route();
    if (route == null) return;
    var reason = MetricText.label("reason", route.reason());
    bump(decisions, MetricText.label("route_class", route.routeClass()) + "," + reason);
    bump(answered, MetricText.label("worker", decision.decode()));
    if (decision.firstTokenSeconds() >= 0) firstToken.add(decision.firstTokenSeconds());
    promptTokens += route.promptTokens();
    expectedTokens += route.promptTokens() - route.uncachedTokens();
    outputTokens += ending.outputTokens();
    if (ending.usage().promptTokens() >= 0 && ending.usage().cachedTokens() >= 0) {
      toldPromptTokens += ending.usage().promptTokens();
      toldCachedTokens += ending.usage().cachedTokens();
    }
  }

  /** All of it, as text. */
  String write(Router router, Roster roster, Dispatch dispatch) {
    var out = new MetricText();
    out.counters("kvasir_decisions_total", "Requests by class and reason.", decisions);
    out.counters("kvasir_requests_total", "Requests by how they ended.", outcomes);
    out.counters("kvasir_worker_requests_total", "Requests by who answered.", answered);
    out.counter("kvasir_retries_total", "Attempts after the first.", retries);
    tokens(out);
    firstToken.write(out, "kvasir_time_to_first_token_seconds", "Until the first token.");
    whole.write(out, "kvasir_request_seconds", "Until the end.");
    out.gauge("kvasir_requests_in_flight", "With the workers.", dispatch.inFlight());
    out.gauge("kvasir_requests_waiting", "Before them.", dispatch.waiting());
    out.gauge("kvasir_index_blocks", "Blocks the index knows.", router.index().size());
    out.gauge("kvasir_sessions", "Sessions with a home.", router.sessions());
    workers(out, router, roster);
    return out.toString();
  }

  /** The share of cached tokens is told over told, not a mean of rates. */
  private void tokens(MetricText out) {
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

  private static void workers(MetricText out, Router router, Roster roster) {
    out.head("kvasir_worker_ready", "gauge", "Whether it is sent requests.");
    for (var post : roster.posts()) {
      int ready = post.availability() == Availability.READY ? 1 : 0;
      out.line("kvasir_worker_ready", label(post), ready);
    }
    out.head("kvasir_worker_in_flight", "gauge", "What is booked there.");
    for (var post : roster.posts()) {
      out.line("kvasir_worker_in_flight", label(post), router.load(post.id()).inFlight());
    }
    out.head("kvasir_worker_prefill_tokens", "gauge", "What is to be prefilled there.");
    for (var post : roster.posts()) {
      long tokens = router.load(post.id()).prefillTokens();
      out.line("kvasir_worker_prefill_tokens", label(post), tokens);
    }
  }

  private static String label(Roster.Post post) {
    return MetricText.label("worker", post.worker().name());
  }

  private static void bump(Map<String, Long> counts, String labels) {
    counts.merge(labels, 1L, Long::sum);
  }
}
