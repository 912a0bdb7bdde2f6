package dev.kvasir.gateway.picker;

import dev.kvasir.net.Network;
import dev.kvasir.net.server.Bodies;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.net.server.ListenFailure;
import dev.kvasir.net.server.TlsReload;
import io.netty.channel.Channel;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
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

  /**
   * Resets of streams in 30 s on one connection. Envoy resets each stream that it needs no more,
   * and has one connection for all of them: this is enough for 35,000 requests a second.
   */
  private static final int RESETS_MAX = 1 << 20;

  private static final Duration LEAST_PACE = Duration.ofMillis(10);
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
  private final Bodies bodies;
  private final GrpcConnections connections;
  private final Queue<HttpServer> servers = new ConcurrentLinkedQueue<>();
  private final String deployment;
  private volatile int port;

  /**
   * Begins to listen; throws {@link ListenFailure} if the address cannot be had.
   *
   * @param bodies from which memory is taken for messages that are not whole
   */
  GrpcServer(Network network, HttpSettings settings, Bodies bodies, Map<String, Method> methods) {
    this.bodies = bodies;
    this.connections = new GrpcConnections(settings.limits());
    this.network = network;
    this.settings = settings;
    this.methods = Map.copyOf(methods);
    int requestedPort = settings.port() == 0 ? ANY_PORT.decrementAndGet() : settings.port();
    var deployed =
        network
            .vertx()
            .deployVerticle(
                () -> new Loop(requestedPort),
                new DeploymentOptions().setInstances(network.loops()));
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
    return connections.count();
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
    network.unguard(port);
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
    private final int requestedPort;
    private final Set<GrpcStream> streams = new LinkedHashSet<>();

    Loop(int requestedPort) {
      this.requestedPort = requestedPort;
    }

    @Override
    public Future<?> start() {
      vertx.setPeriodic(pace().toMillis(), _ -> look(System.nanoTime()));
      return vertx
          .createHttpServer(options())
          .connectionHandler(GrpcServer.this::connected)
          .requestHandler(this::requested)
          .listen(requestedPort, settings.host())
          .onSuccess(
              listening -> {
                port = listening.actualPort();
                network.guard(port, connections::accepted);
                servers.add(listening);
              });
    }

    private void look(long nowNanos) {
      connections.sweep(nowNanos);
      for (var stream : List.copyOf(streams)) stream.look(nowNanos);
    }

    private void requested(HttpServerRequest request) {
      request.exceptionHandler(_ -> {});
      var type = request.getHeader("content-type");
      if (request.version() != HttpVersion.HTTP_2
          || type == null
          || !type.startsWith("application/grpc")) {
        request.response().setStatusCode(415).end("this port speaks gRPC over HTTP/2\n");
        return;
      }
      var channel = channel(request.connection());
      var share = bodies.share("connection " + channel.id());
      connections.begins(channel);
      var stream = new GrpcStream(request, context, settings.limits(), share, this::ended);
      var method = methods.get(request.path());
      stream.listen(method == null ? new Unknown(stream) : method.called(stream));
      streams.add(stream);
      if (method == null) {
        stream.end(GrpcStream.UNIMPLEMENTED, "there is no " + request.path());
      }
    }

    private void ended(GrpcStream stream) {
      streams.remove(stream);
      connections.ends(channel(stream.connection()), stream.how());
    }
  }

  /** Returns how often to look whose time is up. */
  private Duration pace() {
    var quarter = settings.limits().headTime().dividedBy(4);
    return quarter.compareTo(LEAST_PACE) < 0 ? LEAST_PACE : quarter;
  }

  private static Channel channel(HttpConnection connection) {
    return ((ConnectionBase) connection).channelHandlerContext().channel();
  }

  private void connected(HttpConnection connection) {
    connection.exceptionHandler(_ -> {});
    if (connection instanceof ConnectionBase
        && connection.protocolVersion() == HttpVersion.HTTP_2) {
      connections.connected(channel(connection), connection);
    }
  }

  /** A call of what is not there, which is answered already. */
  private record Unknown(GrpcStream stream) implements GrpcStream.Listener {
    @Override
    public void message(Buffer message) {}

    @Override
    public int messageBytesMax() {
      return 0;
    }

    @Override
    public void look(long nowNanos) {}

    @Override
    public void finished() {}

    @Override
    public void over() {}
  }
}
