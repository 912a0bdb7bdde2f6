package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.live.engine.LadderSettings;
import dev.kvasir.live.gateway.GatewaySettings;
import dev.kvasir.live.gateway.NameKey;
import dev.kvasir.live.gateway.Routing;
import dev.kvasir.live.http.ApiKeys;
import java.nio.file.Path;
import java.util.List;

/**
 * All that can be configured of serving: the components are the keys of the file.
 *
 * @param workers servers that run elsewhere; none for engines of our own
 * @param cache the folder of the disk tier, the built-in model and the tenants' secret; null for
 *     the usual one
 */
public record ServeSettings(
    ListenSettings listen,
    List<WorkerSettings> workers,
    RoutingSettings routing,
    LimitSettings limits,
    EmbeddedSettings engines,
    LadderSettings tiers,
    OutputSettings files,
    @Nullable Path cache) {
  public static final ServeSettings DEFAULT =
      new ServeSettings(
          ListenSettings.DEFAULT,
          List.of(),
          RoutingSettings.DEFAULT,
          LimitSettings.DEFAULT,
          EmbeddedSettings.DEFAULT,
          LadderSettings.DEFAULT,
          OutputSettings.DEFAULT,
          null);

  public ServeSettings {
    workers = List.copyOf(workers);
    for (int i = 0; i < workers.size(); i++) {
      if (workers.get(i).url().isEmpty()) {
        throw new IllegalArgumentException("worker " + (i + 1) + " has no url");
      }
    }
    var names = workers.stream().map(each -> each.worker().name()).toList();
    if (names.stream().distinct().count() < names.size()) {
      throw new IllegalArgumentException("two workers have one name: " + names);
    }
  }

  /** Whether engines of our own answer. */
  boolean isEmbedded() {
    return workers.isEmpty();
  }

  /** What prompts are told apart by: their tokens where somebody tells KV events of them. */
  Routing.Naming naming() {
    var chosen = routing.naming();
    if (chosen != null) return chosen;
    boolean told = isEmbedded() || workers.stream().anyMatch(each -> !each.events().isEmpty());
    return told ? Routing.Naming.TOKENS : Routing.Naming.BYTES;
  }

  /** These, but for what can be changed while it runs: workers, and where the keys are. */
  ServeSettings withRunning(ServeSettings from) {
    return new ServeSettings(
        listen.withKeys(from.listen.apiKeys()),
        from.workers,
        routing,
        limits,
        engines,
        tiers,
        files,
        cache);
  }

  Path folder(Path usual) {
    return cache == null ? usual : cache;
  }

  /**
   * How the gateway works in front of these workers.
   *
   * @param contextTokens what a conversation may have with engines of our own; 0 for others
   * @param workerKey what workers are sent as key; empty for none
   */
  GatewaySettings gateway(
      List<WorkerSettings> present,
      int contextTokens,
      ApiKeys keys,
      String workerKey,
      NameKey secret) {
    return GatewaySettings.of(listen.port(), present.stream().map(WorkerSettings::worker).toList())
        .at(listen.api(limits.http(), keys), listen.admin(keys))
        .with(routing.routing(naming(), contextTokens))
        .with(limits.queue())
        .with(limits.failures())
        .probing(routing.probePace())
        .with(files.files())
        .with(workerKey, secret);
  }

  /** What workers elsewhere are sent as key; empty for none. */
  String workerKey() {
    var key = routing.workerKey();
    return key == null ? "" : key.reveal();
  }
}
