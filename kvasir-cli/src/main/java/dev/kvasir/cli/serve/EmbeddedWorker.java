package dev.kvasir.cli.serve;

import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.engine.Engine;
import dev.kvasir.live.engine.EmbeddedEngine;
import dev.kvasir.live.engine.EnginePublisher;
import dev.kvasir.live.engine.EngineServer;
import dev.kvasir.live.gateway.worker.Connector;
import dev.kvasir.live.gateway.worker.Worker;
import dev.kvasir.live.http.ApiKeys;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.live.http.Network;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One of the embedded engines behind a server of its own, which can be started again.
 *
 * <p>The server takes only the key of this process: other users of the machine can reach its port.
 */
final class EmbeddedWorker implements AutoCloseable {
  private final Network network;
  private final EmbeddedEngine engine;
  private final EnginePublisher publisher;
  private final ApiKeys keys;
  private EngineServer server;

  EmbeddedWorker(Network network, EmbeddedEngine engine, EnginePublisher publisher, ApiKeys keys) {
    this.network = network;
    this.engine = engine;
    this.publisher = publisher;
    this.keys = keys;
    this.server = start(0);
  }

  private EngineServer start(int port) {
    return EngineServer.start(network, HttpSettings.local(port).with(keys), engine);
  }

  String name() {
    return engine.name();
  }

  /** As the gateway is told of it; by that connector it hands over what it computed. */
  synchronized WorkerSettings settings(Connector connector) {
    var worker = Worker.of(server.front().url()).named(name()).by(connector, "");
    return WorkerSettings.of(worker).telling(publisher.endpoint(), publisher.replayEndpoint());
  }

  /**
   * Ends what is under way, as long as there is patience, and begins anew where it was, with
   * nothing in the engine's own memory. What it shares with others stays.
   */
  synchronized void restart(Duration patience) {
    int port = server.front().port();
    server.front().drain(patience);
    server.close();
    forget(patience);
    server = start(port);
  }

  private void forget(Duration patience) {
    var forgotten = new CountDownLatch(1);
    engine
        .loop()
        .execute(
            () ->
                engine.pause(
                    Engine.PauseMode.WAIT,
                    () -> {
                      engine.memory().clear();
                      engine.resume();
                      forgotten.countDown();
                    }));
    try {
      if (forgotten.await(patience.toNanos(), TimeUnit.NANOSECONDS)) return;
      throw new IllegalStateException(name() + " was still busy after " + patience);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public synchronized void close() {
    server.close();
    publisher.close();
  }
}
