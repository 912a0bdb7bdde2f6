package dev.kvasir.live.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import java.time.Duration;

/** One loop's share of a server. */
final class FrontLoop extends VerticleBase {
  private static final Duration SOON = Duration.ofSeconds(1);

  private final FrontState state;
  private final int port;
  private final HttpLimits limits;
  private final ConnectionWatch watch;

  FrontLoop(FrontState state, int port) {
    this.state = state;
    this.port = port;
    this.limits = state.limits();
    this.watch = new ConnectionWatch(limits);
  }

  @Override
  public Future<?> start() {
    var server =
        vertx
            .createHttpServer(options())
            .connectionHandler(this::connected)
            .invalidRequestHandler(this::misunderstood)
            .requestHandler(this::requested);
    vertx.setPeriodic(watch.pace().toMillis(), _ -> watch.sweep(System.nanoTime()));
    return server
        .listen(port, state.settings().host())
        .onSuccess(listening -> state.listensOn(listening.actualPort()));
  }

  private HttpServerOptions options() {
    var options =
        new HttpServerOptions()
            .setTcpNoDelay(true)
            .setMaxInitialLineLength(limits.uriBytesMax())
            .setMaxHeaderSize(limits.headerBytesMax())
            .setHandle100ContinueAutomatically(true)
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setHttp2ClearTextEnabled(false);
    var tls = state.settings().tls();
    if (tls == null) return options;
    var files =
        new PemKeyCertOptions().setCertPath(tls.certificateFile()).setKeyPath(tls.keyFile());
    return options.setSsl(true).setKeyCertOptions(files);
  }

  private void connected(HttpConnection connection) {
    boolean welcome = state.comes();
    watch.came(connection, System.nanoTime());
    connection.exceptionHandler(_ -> {});
    connection.closeHandler(
        _ -> {
          watch.left(connection);
          state.leaves();
        });
    if (!welcome) connection.close();
  }

  private void misunderstood(HttpServerRequest request) {
    var cause = request.decoderResult().cause();
    var error = ApiError.badRequest("the request is not HTTP that can be read");
    if (cause instanceof TooLongHttpHeaderException) {
      error = ApiError.of(431, error.type(), "headers_too_large", "send fewer or shorter headers");
    } else if (cause instanceof TooLongHttpLineException) {
      error = ApiError.of(414, error.type(), "uri_too_long", "ask for a shorter path");
    }
    new Exchange(request, context, Caller.ANYONE).failAndClose(error);
  }

  private void requested(HttpServerRequest request) {
    try {
      if (request.headers().size() > limits.headersMax()) {
        throw new Refused(
            ApiError.of(
                431,
                "invalid_request_error",
                "too_many_headers",
                "send at most " + limits.headersMax() + " headers"));
      }
      var endpoint = state.endpoints().find(request.method(), request.path());
      var authorization = request.getHeader(HttpHeaders.AUTHORIZATION);
      var caller = state.keys().admit(endpoint.access(), authorization);
      if (endpoint.hasBody()) requireReadable(request);
      serve(endpoint, new Exchange(request, context, caller));
    } catch (Refused refused) {
      new Exchange(request, context, Caller.ANYONE).failAndClose(refused.error());
    }
  }

  /** What can be refused for its head alone. */
  private void requireReadable(HttpServerRequest request) {
    var type = request.getHeader(HttpHeaders.CONTENT_TYPE);
    var json = "application/json";
    if (type == null || !type.regionMatches(true, 0, json, 0, json.length())) {
      throw new Refused(ApiError.notJson());
    }
    var length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length != null && !fits(length)) {
      throw new Refused(ApiError.tooLarge(limits.bodyBytesMax()));
    }
  }

  private boolean fits(String length) {
    try {
      return Long.parseLong(length) <= limits.bodyBytesMax();
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private void serve(Endpoint endpoint, Exchange exchange) {
    var connection = exchange.request().connection();
    state.begins();
    watch.reads(connection, System.nanoTime());
    exchange.whenOver(
        () -> {
          state.ends();
          watch.rests(connection, System.nanoTime());
        });
    // Counted before: whoever drains sees it under way, or it sees that somebody drains.
    if (state.isDraining() && endpoint.access() != Access.PUBLIC) {
      exchange.failAndClose(
          ApiError.unavailable("draining", "this server stops; ask another one", SOON));
      return;
    }
    new BodyReader(exchange, state)
        .read(
            () -> {
              watch.serves(connection, exchange, System.nanoTime());
              exchange.guard(() -> endpoint.handler().handle(exchange));
            });
  }

  /** Collects the body of a request within the bounds, and keeps its bytes booked until the end. */
  private static final class BodyReader {
    private final Exchange exchange;
    private final FrontState state;
    private Buffer collected = Buffer.buffer();
    private long booked;

    BodyReader(Exchange exchange, FrontState state) {
      this.exchange = exchange;
      this.state = state;
      exchange.whenOver(() -> state.bodies().give(booked));
    }

    void read(Runnable whole) {
      var request = exchange.request();
      request.handler(this::take);
      request.endHandler(
          _ -> {
            if (exchange.isOver() || exchange.response().ended()) return;
            exchange.take(collected);
            whole.run();
          });
    }

    private void take(Buffer chunk) {
      if (exchange.isOver() || exchange.response().ended()) return;
      int bytesMax = state.limits().bodyBytesMax();
      if (collected.length() + (long) chunk.length() > bytesMax) {
        exchange.failAndClose(ApiError.tooLarge(bytesMax));
      } else if (!state.bodies().take(chunk.length())) {
        exchange.failAndClose(
            ApiError.unavailable("no_memory", "too much is under way; come again", SOON));
      } else {
        booked += chunk.length();
        collected = collected.length() == 0 ? chunk : collected.appendBuffer(chunk);
      }
    }
  }
}
