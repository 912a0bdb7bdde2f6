package dev.kvasir.live.picker;

import dev.kvasir.live.http.HttpLimits;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.live.http.ListenFailure;
import dev.kvasir.live.http.Network;
import dev.kvasir.live.http.TlsReload;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Serves calls of gRPC over HTTP/2, in the clear or with TLS, on all loops of the network.
 *
 * <p>Vert.x has HTTP/2; what gRPC adds to it is a frame around each message and a status at the
 * end.
 */
final class GrpcServer implements AutoCloseable {
  private static final AtomicInteger ANY_PORT = new AtomicInteger(-1_000_000);

  /** Headers and metadata of a message beside its piece of a body. */
  private static final int HEADS_BYTES = 256 << 10;

  /**
   * Resets of streams in 30 s on one connection. Envoy resets each stream that it needs no more,
   * and has one connection for all of them: this is enough for 35,000 requests a second.
   */
  private static final int RESETS_MAX = 1 << 20;

  private static final int WINDOW_BYTES = 1 << 20;
  private static final int CONNECTION_WINDOW_BYTES = 16 << 20;

  /** Takes the calls of one method. */
  @FunctionalInterface
  interface Method {
    GrpcStream.Listener called(GrpcStream stream);
  }

  private final Network network;
  private final HttpSettings settings;
  private final Map<String, Method> methods;
  private final AtomicInteger connections = new AtomicInteger();
  private final Queue<HttpServer> servers = new ConcurrentLinkedQueue<>();
  private final String deployment;
  private volatile int port;

  /** Begins to listen; throws {@link ListenFailure} if the address cannot be had. */
  GrpcServer(Network network, HttpSettings settings, Map<String, Method> methods) {
    this.network = network;
    this.settings = settings;
    this.methods = Map.copyOf(methods);
    int asked = settings.port() == 0 ? ANY_PORT.decrementAndGet() : settings.port();
    var deployed =
        network
            .vertx()
            .deployVerticle(
                () -> new Loop(asked), new DeploymentOptions().setInstances(network.loops()));
    deployment =
        Network.await(
            deployed.recover(
                failure ->
                    Future.failedFuture(
                        failure instanceof IOException
                            ? ListenFailure.of(settings.host(), settings.port(), failure)
                            : failure)));
  }

  int port() {
    return port;
  }

  int connections() {
    return connections.get();
  }

  /** Takes the certificate that these files have now for connections from now on. */
  void use(HttpSettings.Tls tls) {
    TlsReload.use(network, List.copyOf(servers), tls);
  }

  /** Takes no connections and no calls any more; calls under way have that time to end. */
  void stopListening(Duration patience) {
    servers.forEach(server -> server.shutdown(patience));
  }

  @Override
  public void close() {
    Network.await(network.vertx().undeploy(deployment));
  }

  private HttpServerOptions options() {
    var limits = settings.limits();
    var options =
        new HttpServerOptions()
            .setTcpNoDelay(true)
            .setReusePort(settings.sharing() == HttpSettings.Sharing.SHARED)
            .setMaxHeaderSize(limits.headerBytesMax())
            .setHttp2RstFloodMaxRstFramePerWindow(RESETS_MAX)
            .setInitialSettings(
                new Http2Settings()
                    .setMaxConcurrentStreams(limits.connectionsMax())
                    .setMaxHeaderListSize(limits.headerBytesMax())
                    .setInitialWindowSize(WINDOW_BYTES))
            .setHttp2ConnectionWindowSize(CONNECTION_WINDOW_BYTES);
    var tls = settings.tls();
    if (tls == null) return options;
    return options.setSsl(true).setUseAlpn(true).setKeyCertOptions(tls.files());
  }

  /** One loop's share of the server. */
  private final class Loop extends VerticleBase {
    private final int asked;

    Loop(int asked) {
      this.asked = asked;
    }

    @Override
    public Future<?> start() {
      return vertx
          .createHttpServer(options())
          .connectionHandler(GrpcServer.this::connected)
          .requestHandler(request -> requested(request, context))
          .listen(asked, settings.host())
          .onSuccess(
              listening -> {
                port = listening.actualPort();
                servers.add(listening);
              });
    }
  }

  private void connected(HttpConnection connection) {
    int now = connections.incrementAndGet();
    connection.exceptionHandler(_ -> {});
    connection.closeHandler(_ -> connections.decrementAndGet());
    if (now > settings.limits().connectionsMax()) connection.close();
  }

  private void requested(HttpServerRequest request, Context context) {
    request.exceptionHandler(_ -> {});
    var type = request.getHeader("content-type");
    if (request.version() != HttpVersion.HTTP_2
        || type == null
        || !type.startsWith("application/grpc")) {
      request.response().setStatusCode(415).end("this port speaks gRPC over HTTP/2\n");
      return;
    }
    var stream = new GrpcStream(request, context, messageBytesMax(settings.limits()));
    var method = methods.get(request.path());
    if (method == null) {
      stream.end(GrpcStream.UNIMPLEMENTED, "there is no " + request.path());
      return;
    }
    stream.listen(method.called(stream));
  }

  private static int messageBytesMax(HttpLimits limits) {
    return (int) Math.min(Integer.MAX_VALUE, (long) limits.bodyBytesMax() + HEADS_BYTES);
  }
}
