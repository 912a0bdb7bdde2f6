package dev.kvasir.cli.serve;

import dev.kvasir.kv.KvEvents;
import dev.kvasir.live.engine.EmbeddedEngine;
import dev.kvasir.live.engine.EngineGroup;
import dev.kvasir.live.engine.EnginePublisher;
import dev.kvasir.live.engine.EngineServer;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.events.PublisherSettings;
import dev.kvasir.live.gateway.Connector;
import dev.kvasir.live.gateway.Worker;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.live.http.Network;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.zeromq.ZContext;

/** Engines of our own, each behind a server of its own, as any other worker would be. */
final class EmbeddedWorkers implements AutoCloseable {
  private final Deque<AutoCloseable> owned = new ArrayDeque<>();
  private final List<WorkerSettings> workers = new ArrayList<>();
  private final EngineGroup group;

  private EmbeddedWorkers(EngineGroup group) {
    this.group = group;
  }

  static EmbeddedWorkers start(
      Network network, ZContext sockets, LoadedModel model, ServeSettings settings, Path folder)
      throws IOException {
    var engines = settings.engines().group(model, settings.tiers(), folder);
    var group = EngineGroup.open(model, engines);
    var all = new EmbeddedWorkers(group);
    try {
      all.owned.push(group);
      group.warmUp();
      for (var engine : group.engines()) all.add(network, sockets, engine);
      return all;
    } catch (IOException | RuntimeException e) {
      all.close();
      throw e;
    }
  }

  private void add(Network network, ZContext sockets, EmbeddedEngine engine) throws IOException {
    var tiers = group.tiers();
    List<KvEvents> below = tiers == null ? List.of() : List.of(tiers.events());
    var loopback = PublisherSettings.loopback("kv-events");
    var publisher = new EnginePublisher(sockets, loopback, engine, below);
    owned.push(publisher);
    var server = EngineServer.start(network, HttpSettings.local(0), engine);
    owned.push(server);
    var worker = Worker.of(server.front().url()).named(engine.name());
    if (tiers != null) worker = worker.by(Connector.NIXL, "");
    var told = WorkerSettings.of(worker);
    workers.add(told.telling(publisher.endpoint(), publisher.replayEndpoint()));
  }

  List<WorkerSettings> workers() {
    return List.copyOf(workers);
  }

  EngineGroup group() {
    return group;
  }

  /** Lets what was computed reach the tiers that last. */
  boolean drain(Duration longest) {
    return group.drain(longest);
  }

  @Override
  public void close() {
    while (!owned.isEmpty()) {
      try {
        owned.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException("an engine could not be closed", e);
      }
    }
  }
}
