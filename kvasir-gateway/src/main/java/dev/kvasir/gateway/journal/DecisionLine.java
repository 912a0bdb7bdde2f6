package dev.kvasir.gateway.journal;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.net.Json;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes decisions as lines of JSON: why each request went where, what was predicted, what came.
 *
 * @param originMicros when the loop of the router began, in microseconds since 1970
 */
record DecisionLine(long originMicros) {
  private static final long NANOS_PER_MICRO = 1_000;

  String of(Decision decision) {
    var line = Json.object();
    var request = decision.request();
    line.put("id", request.id());
    line.put("path", request.path());
    line.put("model", request.model());
    line.put("outcome", decision.ending().outcome().label());
    line.put("status", decision.ending().status());
    if (!decision.ending().code().isEmpty()) line.put("error", decision.ending().code());
    line.put("attempts", decision.attempts());
    route(line, decision);
    time(line, "t_proxy_recv", request.receivedNanos());
    time(line, "t_done", decision.doneNanos());
    tokens(line, "output_tokens", decision.ending().outputTokens());
    tokens(line, "told_prompt_tokens", decision.ending().usage().promptTokens());
    tokens(line, "told_cached_tokens", decision.ending().usage().cachedTokens());
    return line.toString();
  }

  private void route(ObjectNode line, Decision decision) {
    var route = decision.route();
    if (route == null) return;
    line.put("route_class", route.routeClass());
    line.put("offload_decision_reason", route.reason());
    line.put("decode", decision.decode());
    if (!decision.prefill().isEmpty()) line.put("prefill", decision.prefill());
    line.put("prompt_tokens", route.promptTokens());
    line.put("uncached_tokens", route.uncachedTokens());
    tokens(line, "prefill_uncached_tokens", route.prefillTokens());
    var cached = route.cached();
    for (var tier : Tier.values()) line.put("cached_blocks_" + tier.word(), cached.on(tier));
    seconds(line, "colocate_seconds", route.predicted().colocateSeconds());
    seconds(line, "offload_seconds", route.predicted().offloadSeconds());
    seconds(line, "colocate_harm_seconds", route.predicted().colocateHarmSeconds());
    seconds(line, "offload_harm_seconds", route.predicted().offloadHarmSeconds());
    time(line, "t_prefill_sent", route.times().prefillSent());
    time(line, "t_prefill_done", route.times().prefillDone());
    time(line, "t_first_token", route.times().firstToken());
  }

  /** In microseconds since 1970; null for what never was. */
  private void time(ObjectNode line, String name, long nanos) {
    if (nanos < 0) line.putNull(name);
    else line.put(name, originMicros + nanos / NANOS_PER_MICRO);
  }

  private static void tokens(ObjectNode line, String name, long tokens) {
    if (tokens >= 0) line.put(name, tokens);
  }

  private static void seconds(ObjectNode line, String name, double seconds) {
    if (Double.isFinite(seconds)) line.put(name, seconds);
  }
}
