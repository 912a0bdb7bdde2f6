package dev.kvasir.tools.load;

import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/** A real server that streams answers, or does what the model's name says. */
final class TestServer implements AutoCloseable {
  static final String KEY = "sesame";

  final List<JsonNode> bodies = Collections.synchronizedList(new ArrayList<>());
  final List<String> sessions = Collections.synchronizedList(new ArrayList<>());
  final AtomicInteger inFlightMax = new AtomicInteger();

  private final AtomicInteger inFlight = new AtomicInteger();
  private final Network network;
  private final HttpServer server;
  private final long stepMillis;

  TestServer(Network network, long stepMillis) {
    this.network = network;
    this.stepMillis = stepMillis;
    this.server =
        Network.await(
            network.vertx().createHttpServer().requestHandler(this::handle).listen(0, "127.0.0.1"));
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.actualPort());
  }

  @Override
  public void close() {
    Network.await(server.close());
  }

  private void handle(HttpServerRequest request) {
    if (!("Bearer " + KEY).equals(request.getHeader("authorization"))) {
      request.response().setStatusCode(401).end("{\"error\":\"Unauthorized\"}");
    } else if ("/v1/models".equals(request.path())) {
      request
          .response()
          .end("{\"data\":[{\"id\":\"first\",\"max_model_len\":4096},{\"id\":\"second\"}]}");
    } else {
      request.body().onSuccess(body -> answer(request, Json.read(body.getBytes())));
    }
  }

  private void answer(HttpServerRequest request, JsonNode body) {
    bodies.add(body);
    sessions.add(String.valueOf(request.getHeader("x-session-id")));
    int now = inFlight.incrementAndGet();
    inFlightMax.accumulateAndGet(now, Math::max);
    var response = request.response();
    switch (body.path("model").asString("")) {
      case "busy" -> {
        inFlight.decrementAndGet();
        response.setStatusCode(503).end("{\"error\":{\"message\":\"come back later\"}}");
      }
      case "silent" -> response.setChunked(true).writeHead();
      case "cut" -> {
        response.setChunked(true).write(text());
        network.vertx().setTimer(1, _ -> request.connection().close());
      }
      case "short" -> response.setChunked(true).end(text());
      case "broken" ->
          response
              .setChunked(true)
              .end("data: {\"error\":{\"message\":\"out of memory\"}}\n\ndata: [DONE]\n\n");
      default -> {
        response.setChunked(true).putHeader("content-type", "text/event-stream");
        step(response, body.path("max_tokens").asInt(1));
      }
    }
  }

  private void step(HttpServerResponse response, int left) {
    network
        .vertx()
        .setTimer(
            stepMillis,
            _ -> {
              response.write(text());
              if (left > 1) step(response, left - 1);
              else end(response);
            });
  }

  private void end(HttpServerResponse response) {
    inFlight.decrementAndGet();
    response.end(
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":3,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":6}}}\n\ndata: [DONE]\n\n");
  }

  private static String text() {
    return "data: {\"choices\":[{\"delta\":{\"content\":\"word \"}}]}\n\n";
  }
}
