package dev.kvasir.bench;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;

/** A worker that answers every conversation at once, with the same short stream. */
final class ShortStreams implements AutoCloseable {
  private static final int EVENTS = 8;

  private final Buffer stream = Buffer.buffer();
  private final HttpServer server;

  ShortStreams(Vertx vertx) {
    var event =
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"bench\","
            + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n";
    for (int i = 0; i < EVENTS; i++) stream.appendString(event);
    stream.appendString("data: [DONE]\n\n");
    server = vertx.createHttpServer().requestHandler(this::answer);
    server.listen(0, "127.0.0.1").await();
  }

  int port() {
    return server.actualPort();
  }

  private void answer(HttpServerRequest request) {
    var response = request.response();
    switch (request.uri()) {
      case "/v1/models" -> response.end("{\"data\":[{\"id\":\"bench\"}]}");
      case "/v1/chat/completions" -> request.endHandler(_ -> stream(response));
      default -> response.end();
    }
  }

  private void stream(HttpServerResponse response) {
    response
        .setChunked(true)
        .putHeader(HttpHeaders.CONTENT_TYPE, "text/event-stream; charset=utf-8")
        .end(stream);
  }

  @Override
  public void close() {
    server.close().await();
  }
}
