package dev.kvasir.live.gateway.worker;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.HeapContent;
import dev.kvasir.live.http.Network;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The connections to all workers, and the engines of this process that need none.
 *
 * <p>Each loop has its own: bytes that another loop reads would have to be handed over to the one
 * that writes them, and wake it up.
 */
public final class Upstream implements AutoCloseable {
  /**
   * What is sent to a worker.
   *
   * @param prompt what is known of its prompt, for engines of this process; null where nothing is
   */
  public record Message(
      HttpMethod method, String path, MultiMap headers, Buffer body, @Nullable NamedTokens prompt) {
    private static Message of(HttpMethod method, String path) {
      return new Message(method, path, MultiMap.caseInsensitiveMultiMap(), Buffer.buffer(), null);
    }

    public static Message get(String path) {
      return of(HttpMethod.GET, path);
    }

    public static Message delete(String path) {
      return of(HttpMethod.DELETE, path);
    }

    public static Message post(String path, MultiMap headers, Buffer body) {
      return new Message(HttpMethod.POST, path, headers, body, null);
    }

    /** The same one, of whose prompt that is known. */
    public Message with(@Nullable NamedTokens known) {
      return new Message(method, path, headers, body, known);
    }
  }

  /** vLLM closes connections that rest for five seconds: they are not to be used again before. */
  private static final int REST_SECONDS = 4;

  private static final int WAITING_MAX = 16_384;

  /** By which vLLM takes a request to one of its data-parallel engines. */
  private static final String RANK = "x-data-parallel-rank";

  private final Network network;
  private final HttpClientOptions options;
  private final PoolOptions pool;
  private final String key;
  private final Map<String, LocalWorker> locals = new TreeMap<>();
  private final Map<Context, HttpClient> clients = new ConcurrentHashMap<>();

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
    this.network = network;
    for (var engine : engines) locals.put(engine.name(), engine);
    this.options =
        new HttpClientOptions()
            .setKeepAlive(true)
            .setKeepAliveTimeout(REST_SECONDS)
            .setTcpNoDelay(true)
            .setConnectTimeout((int) connectTime.toMillis())
            .setHttp2ClearTextUpgrade(false);
    this.pool = new PoolOptions().setHttp1MaxSize(connectionsMax).setMaxWaitQueueSize(WAITING_MAX);
    this.key = key;
  }

  /** What workers are sent as authorization; empty for nothing. */
  public String authorization() {
    return key.isEmpty() ? "" : "Bearer " + key;
  }

  /** The engine of this process that the worker stands for; null for a server. */
  @Nullable
  LocalWorker local(Worker worker) {
    if (!worker.isEmbedded()) return null;
    return Objects.requireNonNull(locals.get(worker.name()), worker.name());
  }

  /** Whether workers are engines of this process. */
  public boolean isLocal() {
    return !locals.isEmpty();
  }

  /** A connection of this loop, with the head of the request ready to be sent. */
  Future<HttpClientRequest> request(Context loop, Worker worker, Message message) {
    var head =
        new RequestOptions()
            .setMethod(message.method())
            .setHost(worker.host())
            .setPort(worker.port())
            .setSsl(worker.isSecure())
            .setURI(message.path())
            .setFollowRedirects(false);
    for (var header : message.headers()) head.putHeader(header.getKey(), header.getValue());
    boolean hasType = message.headers().contains(HttpHeaders.CONTENT_TYPE);
    if (message.body().length() > 0 && !hasType) {
      head.putHeader(HttpHeaders.CONTENT_TYPE, "application/json");
    }
    if (worker.rank() >= 0) head.putHeader(RANK, Integer.toString(worker.rank()));
    if (!key.isEmpty()) head.putHeader(HttpHeaders.AUTHORIZATION, authorization());
    return client(loop).request(head);
  }

  private HttpClient client(Context loop) {
    return clients.computeIfAbsent(loop, _ -> client());
  }

  private HttpClient client() {
    return network
        .vertx()
        .httpClientBuilder()
        .with(options)
        .with(pool)
        .withConnectHandler(HeapContent::use)
        .build();
  }

  @Override
  public void close() {
    Network.await(Future.join(clients.values().stream().map(HttpClient::close).toList()));
  }
}
