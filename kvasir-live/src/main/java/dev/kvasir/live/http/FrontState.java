package dev.kvasir.live.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What all loops of a server share. */
final class FrontState {
  /** Codes that are told with their count although it is zero, so that its growth is seen. */
  private static final List<String> ALWAYS_TOLD =
      List.of("no_memory", "too_many_bytes", "too_many_connections");

  private final HttpSettings settings;
  private final Endpoints endpoints;
  private final ByteBudget bodies;
  private final AtomicInteger connections = new AtomicInteger();
  private final InFlight inFlight = new InFlight();
  private final ConcurrentSkipListMap<String, LongAdder> refused = new ConcurrentSkipListMap<>();
  private volatile ApiKeys keys;
  private volatile int port;

  FrontState(HttpSettings settings, Endpoints endpoints) {
    this.settings = settings;
    this.endpoints = endpoints;
    this.bodies = new ByteBudget(settings.limits().bodiesBytesMax());
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

  ByteBudget bodies() {
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

  void listensOn(int actual) {
    port = actual;
  }

  int connections() {
    return connections.get();
  }

  /** Whether there is room for one more; it is counted either way, until it leaves. */
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
