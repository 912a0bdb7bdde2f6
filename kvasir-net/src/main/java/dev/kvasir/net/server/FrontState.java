package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.auth.ApiKeys;
import io.netty.channel.Channel;
import io.vertx.core.http.HttpServer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** State that all loops of a server share. */
final class FrontState {
  /** Codes that are told with their count although it is zero, so that its growth is seen. */
  private static final List<String> ALWAYS_TOLD =
      List.of("no_memory", "too_many_bytes", "too_many_connections");

  private final HttpSettings settings;
  private final Endpoints endpoints;
  private final Bodies bodies;
  private final AtomicInteger connections = new AtomicInteger();
  private final InFlight inFlight = new InFlight();
  private final ConcurrentSkipListMap<String, LongAdder> refused = new ConcurrentSkipListMap<>();
  private final Queue<HttpServer> servers = new ConcurrentLinkedQueue<>();
  private volatile ApiKeys keys;
  private volatile boolean leaving;
  private volatile @Nullable Channel listening;
  private volatile int port;

  FrontState(HttpSettings settings, Endpoints endpoints) {
    this.settings = settings;
    this.endpoints = endpoints;
    this.bodies = new Bodies(settings.limits().bodiesBytes());
    this.keys = settings.keys();
    for (var code : ALWAYS_TOLD) refused.put(code, new LongAdder());
  }

  HttpSettings settings() {
    return settings;
  }

  HttpLimits limits() {
    return settings.limits();
  }

  Endpoints endpoints() {
    return endpoints;
  }

  Bodies bodies() {
    return bodies;
  }

  ApiKeys keys() {
    return keys;
  }

  void use(ApiKeys others) {
    keys = others;
  }

  int port() {
    return port;
  }

  void listens(HttpServer server) {
    servers.add(server);
    port = server.actualPort();
  }

  /** The shares of all loops. */
  List<HttpServer> servers() {
    return List.copyOf(servers);
  }

  /** The socket that connections come from. */
  void comesFrom(Channel socket) {
    listening = socket;
  }

  /** The socket that connections come from; null where none has come yet. */
  @Nullable
  Channel listening() {
    return listening;
  }

  /** Callers are to come back elsewhere. */
  void leave() {
    leaving = true;
  }

  boolean isLeaving() {
    return leaving;
  }

  int connections() {
    return connections.get();
  }

  /** Counts one more connection until it leaves; returns whether there is room for it. */
  boolean comes() {
    return connections.incrementAndGet() <= limits().connectionsMax();
  }

  void leaves() {
    connections.decrementAndGet();
  }

  void refuses(String code) {
    refused.computeIfAbsent(code, _ -> new LongAdder()).increment();
  }

  Map<String, Long> refused() {
    var counts = new LinkedHashMap<String, Long>();
    refused.forEach((code, count) -> counts.put(code, count.sum()));
    return counts;
  }

  InFlight inFlight() {
    return inFlight;
  }
}
