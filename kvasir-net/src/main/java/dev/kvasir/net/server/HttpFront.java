package dev.kvasir.net.server;

import dev.kvasir.net.Network;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.metrics.MetricSet;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * An HTTP server: an address, a table of endpoints with who may use them, and bounds on everything.
 *
 * <p>It listens on all loops of the network. Requests are refused before their body is read where
 * that can be known: unknown paths, wrong methods, wrong keys, bodies that are too large.
 */
public final class HttpFront implements AutoCloseable {
  /** Servers of one network that leave the choice of the port to it are told apart by this. */
  private static final AtomicInteger ANY_PORT = new AtomicInteger();

  /** Time that the request of a connection that has just come may take to arrive. */
  private static final long LATEST_MILLIS = 500;

  public static final MetricSet<HttpFront> METRICS =
      new MetricSet<HttpFront>()
          .once(
              front ->
                  front
                      .counters(
                          "kvasir_http_refused_total",
                          "Requests refused before they reached the router, by error code.",
                          "code",
                          HttpFront::refused)
                      .gauge(
                          "kvasir_http_connections",
                          "Connections of callers.",
                          HttpFront::connections)
                      .gauge(
                          "kvasir_http_body_bytes",
                          "Bodies of requests under way.",
                          HttpFront::bodyBytes));

  private final Network network;
  private final String deployment;
  private final FrontState state;
  private final String host;

  private HttpFront(Network network, String deployment, FrontState state, String host) {
    this.network = network;
    this.deployment = deployment;
    this.state = state;
    this.host = host;
  }

  /** Begins to listen; throws {@link ListenFailure} where the address cannot be had. */
  public static HttpFront start(Network network, HttpSettings settings, Endpoints endpoints) {
    var state = new FrontState(settings, endpoints);
    int port = settings.port() == 0 ? ANY_PORT.decrementAndGet() : settings.port();
    var deployed =
        network
            .vertx()
            .deployVerticle(
                () -> new FrontLoop(state, port),
                new DeploymentOptions().setInstances(network.loops()));
    var listening =
        deployed.recover(
            failure ->
                Future.failedFuture(
                    failure instanceof IOException
                        ? ListenFailure.of(settings.host(), settings.port(), failure)
                        : failure));
    return new HttpFront(network, Network.await(listening), state, settings.host());
  }

  /** Throws {@link ListenFailure} where another process has the port, for who listens later. */
  public static void requireFree(HttpSettings settings) {
    if (settings.port() == 0 || settings.sharing() != HttpSettings.Sharing.ALONE) return;
    try (var socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(settings.host(), settings.port()));
    } catch (IOException e) {
      throw ListenFailure.of(settings.host(), settings.port(), e);
    }
  }

  public int port() {
    return state.port();
  }

  public String url() {
    var scheme = state.settings().tls() == null ? "http" : "https";
    return scheme + "://" + host + ":" + port();
  }

  public Endpoints endpoints() {
    return state.endpoints();
  }

  /** Requests whose answer is not out. */
  public int inFlight() {
    return state.inFlight().count();
  }

  public int connections() {
    return state.connections();
  }

  /** Returns how many bytes the bodies of requests under way have. */
  public long bodyBytes() {
    return state.bodies().reserved();
  }

  /** Returns how many requests were refused before they were handled, by the code of the error. */
  public Map<String, Long> refused() {
    return state.refused();
  }

  /** The keys that are taken now. */
  public ApiKeys keys() {
    return state.keys();
  }

  /** Takes other keys from now on. */
  public void use(ApiKeys keys) {
    state.use(keys);
  }

  /**
   * Takes the certificate that these files have now for connections from now on. Throws {@link
   * IllegalArgumentException} where they cannot be used, and then all stays as it was.
   */
  public void use(HttpSettings.Tls tls) {
    TlsReload.use(network, state.servers(), tls);
  }

  /** Serves on, and asks callers to send their next request over another connection. */
  public void leave() {
    state.leave();
  }

  /**
   * Takes no connections any more. Those that are there may still send a request for a moment; then
   * idle ones are closed, and others when what is under way is answered, or after that time.
   *
   * <p>Vert.x would close connections that come while it stops to listen, so the socket is closed
   * first.
   */
  public void stopListening(Duration patience) {
    var socket = state.listening();
    if (socket != null) {
      socket.close().awaitUninterruptibly(LATEST_MILLIS);
      if (connections() > 0) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LATEST_MILLIS));
    }
    state.servers().forEach(server -> server.shutdown(patience));
  }

  /** Refuses new requests, but for public ones, and waits until those under way are answered. */
  public void drain(Duration patience) {
    state.inFlight().drain(patience);
  }

  public boolean isDraining() {
    return state.inFlight().isDraining();
  }

  /** Stops listening; answers that are not out are broken off. */
  @Override
  public void close() {
    Network.await(network.vertx().undeploy(deployment));
  }
}
