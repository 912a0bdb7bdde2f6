package dev.kvasir.gateway;

import dev.kvasir.net.Network;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A worker on this machine that answers everything at once, with the same words. */
final class WarmUpWorker implements AutoCloseable {
  static final String MODEL = "warm-up";

  /** A request with this word in it gets no answer but a refusal. */
  static final String REFUSED = "nobody";

  private static final int EVENTS = 8;
  private static final int TOKENS = 64;

  /** After so many answers a connection is closed, as servers do with one that rested. */
  private static final int CONNECTION_ANSWERS = 61;

  private final HttpServer server;
  private final AtomicInteger answers = new AtomicInteger();
  private final Buffer event =
      Buffer.buffer(
          "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"warm-up\","
              + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n");
  private final Buffer done = Buffer.buffer("data: [DONE]\n\n");
  private final Buffer account =
      Buffer.buffer(
          "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
              + "\"choices\":[],\"usage\":"
              + usage()
              + "}\n\ndata: [DONE]\n\n");

  WarmUpWorker(Vertx vertx) {
    server = vertx.createHttpServer().requestHandler(this::answer);
    Network.await(server.listen(0, "127.0.0.1"));
  }

  private static String usage() {
    return "{\"prompt_tokens\":64,\"completion_tokens\":8,\"total_tokens\":72,"
        + "\"prompt_tokens_details\":{\"cached_tokens\":32}}";
  }

  String url() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  private void answer(HttpServerRequest request) {
    if (answers.incrementAndGet() % CONNECTION_ANSWERS == 0) {
      request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
    }
    switch (String.valueOf(request.path())) {
      case "/v1/models" -> request.response().end("{\"data\":[{\"id\":\"" + MODEL + "\"}]}");
      case "/tokenize" -> request.endHandler(_ -> request.response().end(tokens()));
      case "/v1/chat/completions", "/v1/completions" ->
          request.body().onSuccess(body -> chat(request, body));
      default -> request.response().end();
    }
  }

  private static String tokens() {
    var tokens = IntStream.range(0, TOKENS).mapToObj(String::valueOf);
    return tokens.collect(Collectors.joining(",", "{\"tokens\":[", "]}"));
  }

  private void chat(HttpServerRequest request, Buffer body) {
    var response = request.response();
    var asked = body.toString();
    if (asked.contains(REFUSED)) {
      response.setStatusCode(400).end("{\"error\":{\"message\":\"no\",\"code\":400}}");
      return;
    }
    if (!asked.contains("\"stream\":true") && !asked.contains("\"stream\": true")) {
      response
          .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
          .end(
              "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"model\":\"warm-up\","
                  + "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
                  + "\"words\"},\"finish_reason\":\"stop\"}],\"usage\":"
                  + usage()
                  + "}");
      return;
    }
    response.setChunked(true).putHeader(HttpHeaders.CONTENT_TYPE, "text/event-stream");
    var end = asked.contains("include_usage") ? account : done;
    if (body.length() % 2 == 0) {
      var whole = Buffer.buffer();
      for (int i = 0; i < EVENTS; i++) whole.appendBuffer(event);
      response.end(whole.appendBuffer(end));
    } else {
      for (int i = 0; i < EVENTS; i++) response.write(event);
      response.end(end);
    }
  }

  @Override
  public void close() {
    Network.await(server.close());
  }
}
