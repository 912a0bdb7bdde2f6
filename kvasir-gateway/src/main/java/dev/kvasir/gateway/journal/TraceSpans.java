package dev.kvasir.gateway.journal;

import dev.kvasir.net.Json;
import dev.kvasir.router.RouteRecord;
import java.util.List;
import java.util.Objects;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes decisions as OpenTelemetry's spans, in the JSON of its protocol: one for the request, and
 * below it one for waiting, one for a prefill elsewhere, and one for the worker that answered.
 *
 * @param originMicros when the loop of the router began, in microseconds since 1970
 */
record TraceSpans(long originMicros) {
  private static final long NANOS_PER_MICRO = 1_000;
  private static final int INTERNAL = 1;
  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final int ERROR = 2;

  /** The body of one export. */
  String of(List<Decision> decisions) {
    var all = Json.object();
    var resource = all.putArray("resourceSpans").addObject();
    put(resource.putObject("resource").putArray("attributes"), "service.name", "kvasir");
    var scope = resource.putArray("scopeSpans").addObject();
    scope.putObject("scope").put("name", "kvasir.gateway");
    var spans = scope.putArray("spans");
    for (var decision : decisions) {
      var trace =
          Objects.requireNonNull(decision.request().trace(), "kept for every one that is sent");
      request(spans.addObject(), decision, trace);
      var route = decision.route();
      if (route != null) legs(spans, decision, route, trace);
    }
    return all.toString();
  }

  private void request(ObjectNode span, Decision decision, TraceMark trace) {
    var request = decision.request();
    var ending = decision.ending();
    span.put("traceId", trace.trace()).put("spanId", trace.span());
    if (!trace.parent().isEmpty()) span.put("parentSpanId", trace.parent());
    span.put("name", "POST " + request.path()).put("kind", SERVER);
    times(span, request.receivedNanos(), decision.doneNanos());
    var attributes = span.putArray("attributes");
    put(attributes, "kvasir.request.id", request.id());
    put(attributes, "url.path", request.path());
    put(attributes, "http.response.status_code", ending.status());
    put(attributes, "gen_ai.request.model", request.model());
    put(attributes, "gen_ai.usage.input_tokens", ending.usage().promptTokens());
    put(attributes, "gen_ai.usage.output_tokens", ending.outputTokens());
    put(attributes, "kvasir.cached_tokens", ending.usage().cachedTokens());
    put(attributes, "kvasir.outcome", ending.outcome().label());
    put(attributes, "kvasir.attempts", decision.attempts());
    if (decision.route() != null) {
      put(attributes, "kvasir.route_class", decision.route().routeClass());
      put(attributes, "kvasir.offload_decision_reason", decision.route().reason());
    }
    boolean failed = ending.outcome() == Outcome.BROKEN || ending.status() >= 500;
    if (failed) span.putObject("status").put("code", ERROR).put("message", ending.code());
  }

  private void legs(ArrayNode spans, Decision decision, RouteRecord route, TraceMark trace) {
    var times = route.times();
    long received = decision.request().receivedNanos();
    times(leg(spans, trace, "wait", INTERNAL), received, times.opened());
    long decodes = times.opened();
    if (times.prefillSent() >= 0) {
      long done = times.prefillDone() < 0 ? decision.doneNanos() : times.prefillDone();
      var span = leg(spans, trace, "prefill " + decision.prefill(), CLIENT);
      times(span, times.prefillSent(), done);
      put(span.putArray("attributes"), "kvasir.prefill_tokens", route.prefillTokens());
      decodes = done;
    }
    var span = leg(spans, trace, "decode " + decision.decode(), CLIENT);
    times(span, decodes, decision.doneNanos());
    put(span.putArray("attributes"), "kvasir.uncached_tokens", route.uncachedTokens());
    if (times.firstToken() < 0) return;
    var event = span.putArray("events").addObject();
    event.put("name", "first_token").put("timeUnixNano", nanos(times.firstToken()));
  }

  private static ObjectNode leg(ArrayNode spans, TraceMark trace, String name, int kind) {
    return spans
        .addObject()
        .put("traceId", trace.trace())
        .put("spanId", TraceMark.digits())
        .put("parentSpanId", trace.span())
        .put("name", name)
        .put("kind", kind);
  }

  private void times(ObjectNode span, long from, long to) {
    span.put("startTimeUnixNano", nanos(from)).put("endTimeUnixNano", nanos(Math.max(from, to)));
  }

  /** Numbers of 64 bits are texts in this JSON. */
  private String nanos(long loopNanos) {
    return Long.toString(originMicros * NANOS_PER_MICRO + loopNanos);
  }

  private static void put(ArrayNode attributes, String key, String value) {
    if (value.isEmpty()) return;
    attributes.addObject().put("key", key).putObject("value").put("stringValue", value);
  }

  /** Puts an attribute, unless its value is below zero, which means that it is not known. */
  private static void put(ArrayNode attributes, String key, long value) {
    if (value < 0) return;
    var text = Long.toString(value);
    attributes.addObject().put("key", key).putObject("value").put("intValue", text);
  }
}
