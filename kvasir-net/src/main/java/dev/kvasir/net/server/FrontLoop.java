package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.Caller;
import dev.kvasir.net.auth.HostCheck;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import java.time.Duration;
import java.util.List;

/** One loop's share of a server. */
final class FrontLoop extends VerticleBase {
  private static final Duration SOON = Duration.ofSeconds(1);

  private final FrontState state;
  private final int port;
  private final HttpLimits limits;
  private final ConnectionWatch watch;
  private final HostCheck hosts;

  FrontLoop(FrontState state, int port) {
    this.state = state;
    this.port = port;
    this.limits = state.limits();
    this.watch = new ConnectionWatch(limits);
    this.hosts = new HostCheck(state.settings().host(), state.settings().names());
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
    return server.listen(port, state.settings().host()).onSuccess(state::listens);
  }

  private HttpServerOptions options() {
    var options =
        new HttpServerOptions()
            .setTcpNoDelay(true)
            .setReusePort(state.settings().sharing() == HttpSettings.Sharing.SHARED)
            .setMaxInitialLineLength(limits.uriBytesMax())
            .setMaxHeaderSize(limits.headerBytesMax())
            .setHandle100ContinueAutomatically(true)
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setHttp2ClearTextEnabled(false);
    var tls = state.settings().tls();
    return tls == null ? options : options.setSsl(true).setKeyCertOptions(tls.files());
  }

  private void connected(HttpConnection connection) {
    HeapContent.use(connection);
    if (connection instanceof ConnectionBase base && state.listening() == null) {
      state.comesFrom(base.channelHandlerContext().channel().parent());
    }
    boolean welcome = state.comes() || watch.closeIdle();
    watch.came(connection, System.nanoTime());
    connection.exceptionHandler(_ -> {});
    connection.closeHandler(
        _ -> {
          watch.left(connection);
          state.leaves();
        });
    if (!welcome) {
      state.refuses("too_many_connections");
      connection.close();
    }
  }

  private void misunderstood(HttpServerRequest request) {
    var cause = request.decoderResult().cause();
    var error = ApiError.badRequest("the request is not HTTP that can be read");
    if (cause instanceof TooLongHttpHeaderException) {
      error = ApiError.of(431, error.type(), "headers_too_large", "send fewer or shorter headers");
    } else if (cause instanceof TooLongHttpLineException) {
      error = ApiError.of(414, error.type(), "uri_too_long", "ask for a shorter path");
    }
    refuse(new Exchange(request, context, Caller.ANYONE), error);
  }

  private void requested(HttpServerRequest request) {
    try {
      if (headers(request) > limits.headersMax()) {
        throw new Refused(
            ApiError.of(
                431,
                "invalid_request_error",
                "too_many_headers",
                "send at most " + limits.headersMax() + " headers"));
      }
      var keys = state.keys();
      if (keys.all().isEmpty()) {
        hosts.require(request.getHeader(HttpHeaders.HOST), request.getHeader(HttpHeaders.ORIGIN));
      }
      var endpoint = state.endpoints().find(request.method(), request.path());
      var caller = keys.admit(endpoint.access(), authorization(request));
      if (endpoint.hasBody()) requireReadable(endpoint, request);
      else requireNoBody(request);
      serve(endpoint, new Exchange(request, context, caller));
    } catch (Refused refused) {
      refuse(new Exchange(request, context, Caller.ANYONE), refused.error());
    }
  }

  /** Clients of Anthropic send their key by a header of its own. */
  private static @Nullable String authorization(HttpServerRequest request) {
    var authorization = request.getHeader(HttpHeaders.AUTHORIZATION);
    var key = request.getHeader("x-api-key");
    return authorization == null && key != null ? "Bearer " + key : authorization;
  }

  /** Counts the headers, each of those with the same name separately. */
  private static int headers(HttpServerRequest request) {
    int count = 0;
    for (var _ : request.headers()) count++;
    return count;
  }

  private void refuse(Exchange exchange, ApiError error) {
    state.refuses(error.code());
    exchange.failAndClose(error);
  }

  private static void requireNoBody(HttpServerRequest request) {
    var length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    boolean none = length == null || length.equals("0");
    if (!none || request.headers().contains(HttpHeaders.TRANSFER_ENCODING)) {
      throw new Refused(ApiError.noBody());
    }
  }

  /** Refuses what can be refused for its head alone. */
  private void requireReadable(Endpoint endpoint, HttpServerRequest request) {
    var type = request.getHeader(HttpHeaders.CONTENT_TYPE);
    if (endpoint.content() == Endpoint.Content.FORM) {
      if (!isOf(type, "multipart/form-data")) throw new Refused(ApiError.notForm());
    } else if (!isOf(type, "application/json") && !isFromAShell(endpoint, request, type)) {
      throw new Refused(ApiError.notJson());
    }
    var coding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
    if (coding != null && !coding.equalsIgnoreCase("identity")) {
      throw new Refused(ApiError.encoded());
    }
    var length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length != null && !fits(length)) {
      throw new Refused(ApiError.tooLarge(limits.bodyBytes()));
    }
  }

  /**
   * Returns whether the request may come from a shell: operators ask by hand, and curl calls every
   * body a form unless it is told otherwise. A page in a browser can do the same, but then there is
   * an origin.
   */
  private static boolean isFromAShell(
      Endpoint endpoint, HttpServerRequest request, @Nullable String type) {
    return endpoint.access() == Access.ADMIN
        && request.getHeader(HttpHeaders.ORIGIN) == null
        && (type == null || isOf(type, "application/x-www-form-urlencoded"));
  }

  private static boolean isOf(@Nullable String type, String expected) {
    return type != null && type.regionMatches(true, 0, expected, 0, expected.length());
  }

  private boolean fits(String length) {
    try {
      return Long.parseLong(length) <= limits.bodyBytes();
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private void serve(Endpoint endpoint, Exchange exchange) {
    var connection = exchange.request().connection();
    state.inFlight().begins();
    exchange.whenRefused(state::refuses);
    // An answer of unknown length has no other end in HTTP/1.0.
    boolean isOld = exchange.request().version() == HttpVersion.HTTP_1_0;
    if (isOld || state.isLeaving()) exchange.closeAfterwards();
    watch.reads(connection, System.nanoTime());
    exchange.whenOver(
        () -> {
          state.inFlight().ends();
          watch.rests(connection, System.nanoTime());
        });
    // Counted before: whoever drains sees it under way, or it sees that somebody drains.
    if (state.inFlight().isDraining() && endpoint.access() != Access.PUBLIC) {
      refuse(
          exchange, ApiError.unavailable("draining", "this server stops; ask another one", SOON));
      return;
    }
    new BodyReader(exchange, state, watch)
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
    private final ConnectionWatch watch;
    private final BodyShare share;
    private Buffer collected = Buffer.buffer();

    BodyReader(Exchange exchange, FrontState state, ConnectionWatch watch) {
      this.exchange = exchange;
      this.state = state;
      this.watch = watch;
      this.share = state.bodies().share(holder(exchange));
      exchange.setShare(share);
    }

    /** Returns whose share of the bytes it is: the tenant's, or that of the caller's address. */
    private static String holder(Exchange exchange) {
      var tenant = exchange.caller().tenant();
      if (!tenant.isEmpty()) return "tenant " + tenant;
      var address = exchange.request().remoteAddress();
      return "address " + (address == null ? "" : network(address.hostAddress()));
    }

    /** One who has an address of IPv6 mostly has 2^64 of them. */
    private static String network(String address) {
      if (address.indexOf(':') < 0) return address;
      var groups = address.split(":", -1);
      return String.join(":", List.of(groups).subList(0, Math.min(4, groups.length)));
    }

    void read(Runnable whole) {
      var request = exchange.request();
      request.handler(this::add);
      request.endHandler(
          _ -> {
            if (exchange.isOver() || exchange.response().ended()) return;
            exchange.setBody(collected);
            whole.run();
          });
    }

    private void add(Buffer chunk) {
      if (exchange.isOver() || exchange.response().ended()) return;
      int bytesMax = state.limits().bodyBytes();
      if (collected.length() + (long) chunk.length() > bytesMax) {
        refuse(ApiError.tooLarge(bytesMax));
        return;
      }
      try {
        share.reserve(chunk.length());
        keep(chunk);
      } catch (Refused refused) {
        refuse(refused.error());
      }
    }

    private void refuse(ApiError error) {
      state.refuses(error.code());
      exchange.failAndClose(error);
    }

    private void keep(Buffer chunk) {
      watch.grows(exchange.request().connection(), chunk.length());
      collected = collected.length() == 0 ? chunk : collected.appendBuffer(chunk);
    }
  }
}
