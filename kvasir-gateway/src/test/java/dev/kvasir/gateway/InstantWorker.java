package dev.kvasir.gateway;

import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A worker that answers everything at once and keeps nothing, for tests of what stands before it.
 */
final class InstantWorker implements AutoCloseable {
  private static final Buffer WHOLE =
      Buffer.buffer(
          "{\"object\":\"whole\",\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}");
  private static final Buffer STREAM =
      Buffer.buffer(
          "data: {\"n\":0}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
              + "\"completion_tokens\":1}}\n\ndata: [DONE]\n\n");

  private final HttpServer server;
  private final AtomicLong answered = new AtomicLong();

  private InstantWorker(Network network) {
    server = network.vertx().createHttpServer().requestHandler(this::answer);
    Network.await(server.listen(0, HttpSettings.LOOPBACK));
  }

  static InstantWorker start(Network network) {
    return new InstantWorker(network);
  }

  Worker worker(String name) {
    return Worker.of("http://" + HttpSettings.LOOPBACK + ":" + server.actualPort()).named(name);
  }

  long answered() {
    return answered.get();
  }

  private void answer(HttpServerRequest request) {
    request.exceptionHandler(_ -> {});
    request.response().exceptionHandler(_ -> {});
    switch (String.valueOf(request.path())) {
      case "/v1/models" ->
          request.response().end("{\"data\":[{\"id\":\"tiny\",\"object\":\"model\"}]}");
      case "/health", "/metrics" -> request.response().end();
      default -> request.body().onSuccess(body -> answer(request, body));
    }
  }

  private void answer(HttpServerRequest request, Buffer body) {
    answered.incrementAndGet();
    boolean stream = body.toString().contains("\"stream\":true");
    request
        .response()
        .putHeader("content-type", stream ? "text/event-stream" : "application/json")
        .end(stream ? STREAM : WHOLE);
  }

  @Override
  public void close() {
    Network.await(server.close());
  }
}
