package dev.kvasir.tools.clients;

import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Endpoints;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import tools.jackson.databind.JsonNode;

/** A worker that answers every conversation with the call of a tool, and keeps what it was sent. */
final class ToolWorker implements AutoCloseable {
  static final String MODEL = "tool-caller";

  private static final String CALL =
      """
      {"index":0,"id":"call_1","type":"function",
       "function":{"name":"%s","arguments":%s}}\
      """;

  private final HttpFront front;
  private volatile JsonNode lastRequest = Json.object();

  ToolWorker(Network network) {
    var model = "{\"data\":[{\"id\":\"" + MODEL + "\",\"object\":\"model\"}]}";
    front =
        HttpFront.start(
            network,
            HttpSettings.local(0),
            Endpoints.of(
                Endpoint.get("/health", Access.PUBLIC, exchange -> exchange.answer(200, "{}")),
                Endpoint.get("/v1/models", Access.PUBLIC, exchange -> exchange.answer(200, model)),
                Endpoint.post("/v1/chat/completions", Access.PUBLIC, this::call)));
  }

  String url() {
    return front.url();
  }

  /** The last request, as it arrived. */
  JsonNode lastRequest() {
    return lastRequest;
  }

  /** Calls the first tool that the request offers; in a stream its arguments come in pieces. */
  private void call(Exchange exchange) {
    lastRequest = Json.read(exchange.body().getBytes());
    var tool = lastRequest.at("/tools/0/function/name").asString();
    var call = CALL.formatted(tool, Json.text("{\"city\":\"Oslo\"}"));
    if (!lastRequest.path("stream").asBoolean(false)) {
      exchange.answer(200, whole(call));
      return;
    }
    var stream = exchange.stream();
    stream.send(chunk("{\"role\":\"assistant\",\"tool_calls\":[" + named(tool) + "]}", "null"));
    for (var piece : new String[] {"{\"city\":", "\"Oslo\"}"}) {
      var arguments = "{\"index\":0,\"function\":{\"arguments\":" + Json.text(piece) + "}}";
      stream.send(chunk("{\"tool_calls\":[" + arguments + "]}", "null"));
    }
    stream.send(chunk("{}", "\"tool_calls\""));
    stream.done();
  }

  private static String named(String tool) {
    return CALL.formatted(tool, "\"\"");
  }

  private static String whole(String call) {
    return """
    {"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"tool-caller",
     "choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,
       "message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[%s]}}],
     "usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}\
    """
        .formatted(call);
  }

  private static String chunk(String delta, String finish) {
    return """
    {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"tool-caller",
     "choices":[{"index":0,"delta":%s,"finish_reason":%s}]}\
    """
        .formatted(delta, finish)
        .replace("\n", "");
  }

  @Override
  public void close() {
    front.close();
  }
}
