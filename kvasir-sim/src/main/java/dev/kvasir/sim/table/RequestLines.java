package dev.kvasir.sim.table;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import java.io.IOException;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Writes what became of each request, one JSON object a line. */
public final class RequestLines {
  private static final JsonMapper JSON = new JsonMapper();

  private final int blockTokens;

  public RequestLines(int blockTokens) {
    this.blockTokens = blockTokens;
  }

  public void write(RunResult run, Appendable out) throws IOException {
    for (var request : run.requests()) {
      var node = node(request);
      var model = request.request().caller().model();
      if (!run.groups().isEmpty() && !model.isEmpty()) node.put("model", model);
      out.append(JSON.writeValueAsString(node)).append('\n');
    }
  }

  private ObjectNode node(RequestResult result) {
    var request = result.request();
    var node = JSON.createObjectNode();
    node.put("request_id", request.id());
    node.put("instance", result.instance() < 0 ? "" : "instance_" + result.instance());
    if (result.prefillInstance() >= 0 && result.prefillInstance() != result.instance()) {
      node.put("prefill_instance", "instance_" + result.prefillInstance());
    }
    node.put("outcome", result.ending().name().toLowerCase(Locale.ROOT));
    if (!result.routeClass().isEmpty()) node.put("route_class", result.routeClass());
    node.put("arrival_us", request.arrivalNanos() / 1000);
    time(node, "ttft_us", result.ttftMicros());
    time(node, "e2e_us", result.e2eMicros());
    time(node, "sched_delay_us", result.schedulingMicros());
    node.put("input_tokens", request.promptTokens());
    node.put("output_tokens", result.outputTokens());
    var cached = node.putObject("cached_tokens");
    cached.put("total", result.cachedTokens());
    for (var tier : Tier.values()) {
      cached.put(tier.word(), result.cached().on(tier) * blockTokens);
    }
    if (!request.turn().isAlone()) {
      node.put("session", request.turn().session());
      node.put("round", request.turn().round());
    }
    return node;
  }

  /** A time that never came is absent. */
  private static void time(ObjectNode node, String name, long micros) {
    if (micros != RequestResult.NEVER) node.put(name, micros);
  }
}
