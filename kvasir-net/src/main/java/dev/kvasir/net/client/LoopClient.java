package dev.kvasir.net.client;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Sends requests over connections of the loop that asks: bytes that another loop reads would have
 * to be handed over to the one that uses them, and wake it up.
 */
public final class LoopClient {
  private final ClientBounds bounds;
  private final NetClient sockets;
  private final Map<Context, HashMap<Target, ConnectionPool>> pools = new ConcurrentHashMap<>();

  /** Opens no connection yet. */
  public LoopClient(Vertx vertx, ClientBounds bounds) {
    this(vertx, bounds, new NetClientOptions());
  }

  /** One with other options for sockets, such as what certificates it trusts. */
  LoopClient(Vertx vertx, ClientBounds bounds, NetClientOptions options) {
    this.bounds = bounds;
    this.sockets =
        vertx.createNetClient(
            options
                .setTcpNoDelay(true)
                .setConnectTimeout((int) bounds.connectTime().toMillis())
                .setHostnameVerificationAlgorithm("HTTPS"));
  }

  /**
   * Sends a request; to be called on the loop of the context. Throws {@link
   * IllegalArgumentException} where the request cannot be written as HTTP.
   */
  public ClientCall send(
      Context loop, Target target, ClientRequest request, ClientCall.Listener listener) {
    var head = request.head(target);
    var pool = pool(loop, target);
    var call = new ClientCall(pool, target, request, head, listener);
    pool.send(call);
    return call;
  }

  private ConnectionPool pool(Context loop, Target target) {
    var all = pools.computeIfAbsent(loop, _ -> new HashMap<>());
    return all.computeIfAbsent(
        target,
        _ ->
            new ConnectionPool(
                loop, sockets, target, bounds, unused -> all.remove(target, unused)));
  }

  /** Returns how many servers the loop has connections to, or calls for. */
  int targets(Context loop) {
    var all = pools.get(loop);
    return all == null ? 0 : all.size();
  }

  /** Closes all connections. */
  public Future<Void> close() {
    return sockets.close();
  }
}
