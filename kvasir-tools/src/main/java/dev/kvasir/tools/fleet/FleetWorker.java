package dev.kvasir.tools.fleet;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.EmbeddedEngine;
import dev.kvasir.embedded.EnginePublisher;
import dev.kvasir.embedded.EngineServer;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import java.util.concurrent.CompletableFuture;

/** One look-alike worker: it serves requests, and can be made to fail, killed and revived. */
public final class FleetWorker implements AutoCloseable {
  private final Network network;
  private final EmbeddedEngine engine;
  private final EnginePublisher publisher;
  private final FaultPlan faults = new FaultPlan();
  private final HttpSettings settings;
  private final int port;
  private @Nullable EngineServer server;

  /** Complete when nothing is cached any more of what was computed before the last kill. */
  private CompletableFuture<Void> forgotten = CompletableFuture.completedFuture(null);

  FleetWorker(
      Network network, HttpSettings settings, EmbeddedEngine engine, EnginePublisher publisher) {
    this.network = network;
    this.engine = engine;
    this.publisher = publisher;
    this.settings = settings;
    var started = new EngineServer(network, settings, engine, faults);
    this.server = started;
    this.port = started.front().port();
  }

  public String name() {
    return engine.name();
  }

  public String url() {
    return "http://" + settings.host() + ":" + port;
  }

  /** Returns the publisher of the worker's KV events. */
  public EnginePublisher events() {
    return publisher;
  }

  public EmbeddedEngine engine() {
    return engine;
  }

  /** Returns the faults of the worker's next answers. */
  public FaultPlan faults() {
    return faults;
  }

  public synchronized boolean isAlive() {
    return server != null;
  }

  /** Breaks all connections and takes none until it is revived; it forgets what it has cached. */
  public synchronized void kill() {
    var running = server;
    if (running == null) return;
    running.close();
    server = null;
    var reset = new CompletableFuture<Void>();
    engine.loop().execute(() -> engine.resetCache(_ -> reset.complete(null)));
    forgotten = reset;
  }

  /** Listens again where it did, once it has forgotten what it had cached. */
  public void revive() {
    memoryOfBefore().join();
    listen();
  }

  private synchronized CompletableFuture<Void> memoryOfBefore() {
    return forgotten;
  }

  private synchronized void listen() {
    if (server != null) return;
    var same = settings.at(settings.host(), port);
    server = new EngineServer(network, same, engine, faults);
  }

  @Override
  public synchronized void close() {
    if (server != null) server.close();
    server = null;
    publisher.close();
  }
}
