package dev.kvasir.cli.serve;

import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.live.OwnedResources;
import dev.kvasir.live.engine.EmbeddedEngine;
import dev.kvasir.live.engine.EngineGroup;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.engine.LocalEngine;
import dev.kvasir.live.engine.LocalEvents;
import dev.kvasir.live.gateway.Gateway;
import dev.kvasir.live.gateway.worker.Connector;
import dev.kvasir.live.gateway.worker.Worker;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Network;
import dev.kvasir.live.http.Refused;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The engines of this process as workers of its gateway; they have no ports. */
final class EmbeddedWorkers implements AutoCloseable {
  private final OwnedResources owned = new OwnedResources();
  private final EngineGroup group;
  private final List<LocalEngine> engines;

  private EmbeddedWorkers(Network network, EngineGroup group) {
    this.group = owned.add(group);
    this.engines =
        group.engines().stream()
            .map(engine -> owned.add(new LocalEngine(network, engine)))
            .toList();
  }

  static EmbeddedWorkers start(Network network, LoadedModel model, Deployment settings, Path folder)
      throws IOException {
    var tieredCache = settings.tiers().tieredCache(model.device().blockBytes());
    var group = EngineGroup.open(model, settings.engines().group(model, tieredCache, folder));
    group.beginPlainly();
    return new EmbeddedWorkers(network, group);
  }

  /** As the gateway is told of them; those that share tiers hand over by way of these. */
  List<Worker> workers() {
    var connector = group.tiers() == null ? Connector.NONE : Connector.NIXL;
    return engines.stream()
        .map(engine -> Worker.embedded(engine.name()).by(connector, ""))
        .toList();
  }

  List<LocalEngine> engines() {
    return engines;
  }

  /** The engine of that name, or an error that can be answered. */
  LocalEngine engine(String name) {
    for (var engine : engines) if (engine.name().equals(name)) return engine;
    var names = engines.stream().map(LocalEngine::name).toList();
    throw new Refused(ApiError.badField("worker", "no such engine; there are " + names));
  }

  /** Tells the gateway from now on what becomes of the engines' blocks. */
  void tell(Gateway gateway) {
    for (var engine : group.engines()) tell(gateway, engine);
  }

  private void tell(Gateway gateway, EmbeddedEngine engine) {
    var tiers = group.tiers();
    List<KvEvents> below = tiers == null ? List.of() : List.of(tiers.events());
    var index = gateway.events(engine.name());
    gateway.hear(engine.name(), owned.add(LocalEvents.start(engine, below, gateway.loop(), index)));
  }

  EngineGroup group() {
    return group;
  }

  /** Waits until the computed blocks are on the persistent tiers. */
  boolean drain(Duration longest) {
    return group.drain(longest);
  }

  @Override
  public void close() {
    owned.close();
  }
}
