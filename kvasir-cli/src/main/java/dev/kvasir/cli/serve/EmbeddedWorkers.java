package dev.kvasir.cli.serve;

import dev.kvasir.kv.KvEvents;
import dev.kvasir.live.Owned;
import dev.kvasir.live.engine.EmbeddedEngine;
import dev.kvasir.live.engine.EngineGroup;
import dev.kvasir.live.engine.EnginePublisher;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.events.PublisherSettings;
import dev.kvasir.live.gateway.Connector;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Network;
import dev.kvasir.live.http.Refused;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.ZContext;

/** Engines of our own, each behind a server of its own, as any other worker would be. */
final class EmbeddedWorkers implements AutoCloseable {
  private final Owned owned = new Owned();
  private final List<EmbeddedWorker> workers = new ArrayList<>();
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
      all.owned.add(group);
      group.beginPlainly();
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
    workers.add(owned.add(new EmbeddedWorker(network, engine, publisher)));
  }

  List<WorkerSettings> settings() {
    var connector = group.tiers() == null ? Connector.NONE : Connector.NIXL;
    return workers.stream().map(worker -> worker.settings(connector)).toList();
  }

  /** The worker of that name, or an error that can be answered. */
  EmbeddedWorker worker(String name) {
    for (var worker : workers) if (worker.name().equals(name)) return worker;
    var names = workers.stream().map(EmbeddedWorker::name).toList();
    throw new Refused(ApiError.badField("worker", "no such engine; there are " + names));
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
    owned.close();
  }
}
