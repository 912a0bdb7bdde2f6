package dev.kvasir.cli.serve;

import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.embedded.EmbeddedEngine;
import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.LocalEngine;
import dev.kvasir.embedded.LocalEvents;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Network;
import dev.kvasir.net.OwnedResources;
import dev.kvasir.net.Refused;
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

  /** Forwards the block events of the engines to the gateway from now on. */
  void forwardEvents(Gateway gateway) {
    for (var engine : group.engines()) forwardEvents(gateway, engine);
  }

  private void forwardEvents(Gateway gateway, EmbeddedEngine engine) {
    var tiers = group.tiers();
    List<KvEvents> below = tiers == null ? List.of() : List.of(tiers.events());
    var index = gateway.events(engine.name());
    gateway.setEvents(
        engine.name(), owned.add(LocalEvents.start(engine, below, gateway.loop(), index)));
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
