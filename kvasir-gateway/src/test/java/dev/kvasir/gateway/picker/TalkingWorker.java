package dev.kvasir.gateway.picker;

import static java.util.Objects.requireNonNull;

import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A worker that says who it is, and remembers what it was asked. */
final class TalkingWorker implements AutoCloseable {
  /** Request as it arrived. */
  record Seen(String path, Map<String, String> headers, Buffer body) {}

  private final String name;
  private final HttpServer server;
  private final Queue<Seen> seen = new ConcurrentLinkedQueue<>();

  /** Status with which it answers completions. */
  volatile int status = 200;

  TalkingWorker(Network network, String name) {
    this.name = name;
    server = network.vertx().createHttpServer().requestHandler(this::requested);
    Network.await(server.listen(0, HttpSettings.LOOPBACK));
  }

  int port() {
    return server.actualPort();
  }

  Worker worker() {
    return Worker.of("http://127.0.0.1:" + port()).named(name);
  }

  Queue<Seen> seen() {
    return seen;
  }

  private void requested(HttpServerRequest request) {
    request.exceptionHandler(_ -> {});
    request.response().exceptionHandler(_ -> {}).putHeader("x-worker", name);
    switch (String.valueOf(request.path())) {
      case "/v1/models" -> request.response().end("{\"data\":[{\"id\":\"tiny\"}]}");
      case "/health", "/metrics" -> request.response().end();
      default -> request.body().onSuccess(body -> answer(request, body));
    }
  }

  private void answer(HttpServerRequest request, Buffer body) {
    var headers = new ConcurrentHashMap<String, String>();
    request.headers().forEach(header -> headers.put(header.getKey(), header.getValue()));
    seen.add(new Seen(requireNonNull(request.path()), headers, body));
    var response = request.response().setStatusCode(status);
    if (!body.toString().contains("\"stream\":true")) {
      response
          .putHeader("content-type", "application/json")
          .end("{\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}");
      return;
    }
    response.putHeader("content-type", "text/event-stream").setChunked(true);
    for (int n = 0; n < 5; n++) response.write("data: {\"n\":" + n + "}\n\n");
    response.end(
        """
        data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}}

        data: [DONE]

        """);
  }

  @Override
  public void close() {
    Network.await(server.close());
  }
}
