package dev.kvasir.cli.serve;

import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.live.OwnedResources;
import dev.kvasir.live.engine.EmbeddedEngine;
import dev.kvasir.live.engine.EngineGroup;
import dev.kvasir.live.engine.EnginePublisher;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.engine.tier.LadderSettings;
import dev.kvasir.live.events.PublisherSettings;
import dev.kvasir.live.gateway.worker.Connector;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.ApiKey;
import dev.kvasir.live.http.ApiKeys;
import dev.kvasir.live.http.Network;
import dev.kvasir.live.http.Refused;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.zeromq.ZContext;

/**
 * Embedded engines, each behind a server of its own, as any other worker would be.
 *
 * <p>Only this process can use them: their servers take a key that is made at each start and told
 * to nobody but the gateway, and their KV events, which hold the tokens of prompts, stay inside.
 */
final class EmbeddedWorkers implements AutoCloseable {
  private static final int KEY_BYTES = 32;

  private final OwnedResources owned = new OwnedResources();
  private final List<EmbeddedWorker> workers = new ArrayList<>();
  private final EngineGroup group;
  private final String key = randomKey();
  private final ApiKeys keys =
      new ApiKeys(List.of(ApiKey.of("gateway", key).in(ApiKey.Scope.GATEWAY)));

  private EmbeddedWorkers(EngineGroup group) {
    this.group = group;
  }

  private static String randomKey() {
    var bytes = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  static EmbeddedWorkers start(
      Network network, ZContext sockets, LoadedModel model, Deployment settings, Path folder)
      throws IOException {
    var engines = settings.engines().group(model, ladder(model, settings), folder);
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

  private static LadderSettings ladder(LoadedModel model, Deployment settings) {
    return settings.tiers().ladder(model.device().blockBytes());
  }

  private void add(Network network, ZContext sockets, EmbeddedEngine engine) throws IOException {
    var tiers = group.tiers();
    List<KvEvents> below = tiers == null ? List.of() : List.of(tiers.events());
    var inside = PublisherSettings.inProcess("kvasir-" + engine.name(), "kv-events");
    var publisher = new EnginePublisher(sockets, inside, engine, below);
    workers.add(owned.add(new EmbeddedWorker(network, engine, publisher, keys)));
  }

  List<WorkerSettings> settings() {
    var connector = group.tiers() == null ? Connector.NONE : Connector.NIXL;
    return workers.stream().map(worker -> worker.settings(connector)).toList();
  }

  /** What the gateway has to send them as its key. */
  String key() {
    return key;
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
