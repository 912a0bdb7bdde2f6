package dev.kvasir.gateway.worker;

import dev.kvasir.Nullable;
import dev.kvasir.net.Network;
import dev.kvasir.net.client.ClientBounds;
import dev.kvasir.net.client.ClientCall;
import dev.kvasir.net.client.ClientRequest;
import dev.kvasir.net.client.LoopClient;
import dev.kvasir.net.client.Target;
import dev.kvasir.net.worker.LocalWorker;
import dev.kvasir.net.worker.WorkerMessage;
import io.vertx.core.Context;
import io.vertx.core.http.HttpHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** The connections to all workers, and the engines of this process that need none. */
public final class Upstream implements AutoCloseable {
  /** From the first byte of the head of an answer to its last. */
  private static final Duration HEAD = Duration.ofSeconds(10);

  /** vLLM closes connections that rest for five seconds: they are not to be used again before. */
  private static final Duration REST = Duration.ofSeconds(4);

  private static final int WAITING_MAX = 16_384;

  /** By which vLLM takes a request to one of its data-parallel engines. */
  private static final String RANK = "x-data-parallel-rank";

  private final LoopClient client;
  private final String key;
  private final Map<String, LocalWorker> locals = new TreeMap<>();

  /**
   * Opens no connection yet.
   *
   * @param connectionsMax to each worker, of each loop
   * @param key what workers are sent as key; empty for none
   * @param engines the workers of this process
   */
  public Upstream(
      Network network,
      int connectionsMax,
      Duration connectTime,
      String key,
      List<? extends LocalWorker> engines) {
    for (var engine : engines) locals.put(engine.name(), engine);
    this.client =
        new LoopClient(
            network.vertx(),
            new ClientBounds(connectionsMax, WAITING_MAX, connectTime, HEAD, REST));
    this.key = key;
  }

  /** Returns the authorization that workers are sent; empty for none. */
  public String authorization() {
    return key.isEmpty() ? "" : "Bearer " + key;
  }

  /** The engine of this process that the worker stands for; null for a server. */
  @Nullable
  LocalWorker local(Worker worker) {
    if (!worker.isEmbedded()) return null;
    return Objects.requireNonNull(locals.get(worker.name()), worker.name());
  }

  /** Returns whether workers are engines of this process. */
  public boolean isLocal() {
    return !locals.isEmpty();
  }

  /**
   * Sends a request over a connection of this loop. Throws {@link IllegalArgumentException} where
   * it cannot be written as HTTP.
   */
  ClientCall send(
      Context loop, Worker worker, WorkerMessage message, ClientCall.Listener listener) {
    var headers = HttpHeaders.headers().addAll(message.headers());
    boolean hasType = message.headers().contains(HttpHeaders.CONTENT_TYPE);
    if (message.body().length() > 0 && !hasType) {
      headers.set(HttpHeaders.CONTENT_TYPE, "application/json");
    }
    if (worker.rank() >= 0) headers.set(RANK, Integer.toString(worker.rank()));
    if (!key.isEmpty()) headers.set(HttpHeaders.AUTHORIZATION, authorization());
    var request = new ClientRequest(message.method(), message.path(), headers, message.body());
    return client.send(loop, target(worker), request, listener);
  }

  private static Target target(Worker worker) {
    var security = worker.isSecure() ? Target.Security.TLS : Target.Security.PLAIN;
    return new Target(worker.host(), worker.port(), security);
  }

  @Override
  public void close() {
    Network.await(client.close());
  }
}
