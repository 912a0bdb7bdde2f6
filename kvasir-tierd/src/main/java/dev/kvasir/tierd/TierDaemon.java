package dev.kvasir.tierd;

import dev.kvasir.Nullable;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.Network;
import dev.kvasir.net.OwnedResources;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Endpoints;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.offload.state.EdgeState;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.offload.state.TierState;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.tierd.cache.NamespaceCache;
import dev.kvasir.tierd.cache.NamespaceCaches;
import dev.kvasir.tierd.feed.TierFeed;
import dev.kvasir.tierd.resp.RespServer;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tiers.TierMemory;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** KV tiers for the engines of one machine, in this process until it is closed. */
public final class TierDaemon implements AutoCloseable {
  private final OwnedResources owned = new OwnedResources();
  private final LiveLoop loop;
  private final NamespaceCaches caches;
  private final TierServer server;
  private final HttpFront front;
  private final @Nullable RespServer resp;
  private final @Nullable TierFeed feed;

  private TierDaemon(TierSettings settings) throws IOException {
    this.loop = owned.add(new LiveLoop("kvasir-tier"));
    try {
      var events = settings.events();
      this.feed = events == null ? null : owned.add(new TierFeed(loop, events));
      this.caches = owned.add(new NamespaceCaches(loop, settings, feed));
      this.server = owned.add(TierServer.open(loop, caches, settings));
      var redis = settings.resp();
      int clientsMax = settings.connectionsMax();
      this.resp = redis == null ? null : owned.add(new RespServer(loop, caches, redis, clientsMax));
      var network = owned.add(Network.open(1));
      var pages =
          Endpoints.of(
              Endpoint.get("/metrics", Access.PUBLIC, this::metrics),
              Endpoint.get("/health", Access.PUBLIC, exchange -> exchange.answer(200, "{}")));
      var admin = HttpSettings.local(settings.adminPort());
      this.front = owned.add(HttpFront.start(network, admin, pages));
    } catch (IOException | RuntimeException e) {
      owned.close();
      throw e;
    }
  }

  /** Begins to listen. */
  public static TierDaemon open(TierSettings settings) throws IOException {
    return new TierDaemon(settings);
  }

  /** The port of the Redis protocol; -1 for none. */
  public int respPort() throws IOException {
    return resp == null ? -1 : resp.port();
  }

  /** Returns the URL of its metrics. */
  public String adminUrl() {
    return front.url();
  }

  private void metrics(Exchange exchange) {
    Thread.ofVirtual()
        .name("kvasir-tier-metrics")
        .start(
            () ->
                exchange.guardElsewhere(
                    () -> {
                      var text = Buffer.buffer(metrics());
                      exchange
                          .context()
                          .runOnContext(_ -> exchange.answer(200, MetricsText.CONTENT_TYPE, text));
                    }));
  }

  /** Returns what the daemon does, for Prometheus; from any thread but the loop's. */
  public String metrics() {
    var all = caches.all();
    var totals =
        new TierText.Totals(
            server.connections(),
            server.accepted.sum(),
            server.refused.sum(),
            caches.replaced(),
            feed == null ? 0 : feed.published(),
            feed == null ? 0 : feed.dropped(),
            resp == null ? null : resp.counts);
    var text = new CompletableFuture<String>();
    loop.execute(() -> text.complete(TierText.metrics(all, totals)));
    return text.join();
  }

  /** Returns what its tiers hold, for the dashboard; from any thread but the loop's. */
  public TieredCacheState memory() {
    var all = caches.all();
    var state = new CompletableFuture<TieredCacheState>();
    loop.execute(() -> state.complete(memory(all)));
    return state.join();
  }

  private static TieredCacheState memory(List<NamespaceCache> all) {
    var tiers = new ArrayList<TierState>();
    var edges = new ArrayList<EdgeState>();
    var stores = new ArrayList<StoreTally>();
    var unavailable = new ArrayList<String>();
    for (var cache : all) {
      var suffix = all.size() == 1 ? "" : " " + cache.namespace().id();
      var memory = new TierMemory(cache.tiers(), cache.namespace().rowBytes(), suffix);
      tiers.addAll(memory.tiers());
      edges.addAll(memory.edges());
      if (all.size() == 1) stores.addAll(cache.tiers().stores());
      unavailable.addAll(cache.tiers().unavailable());
    }
    return new TieredCacheState(tiers, edges, List.of(), stores, unavailable);
  }

  /** Ends the connections, then lets go of the tiers. */
  @Override
  public void close() {
    owned.close();
  }
}
