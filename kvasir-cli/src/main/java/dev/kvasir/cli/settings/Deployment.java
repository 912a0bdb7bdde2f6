package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.HttpLimits;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.sim.cluster.ClusterSpec;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * All that can be configured of a deployment: the components are the keys of {@code kvasir.yaml}.
 *
 * <p>{@code serve} runs it and {@code simulate} predicts it. The last four sections are for the
 * simulator alone; {@code serve} reads over them.
 *
 * @param workers servers that run elsewhere; none for embedded engines
 * @param discovery where servers are found that are not among them
 * @param replicas other gateways in front of the same servers
 * @param tiers the tiers below the engines' own memory
 * @param cache the folder of the disk tier, the built-in model and the tenants' secret; null for
 *     the default folder
 * @param tierConfig the settings of a tier daemon that runs beside the gateway, for engines of this
 *     machine that run elsewhere; null for none
 */
public record Deployment(
    ListenSettings listen,
    List<WorkerSettings> workers,
    DiscoverySettings discovery,
    ReplicationSettings replicas,
    RoutingSettings routing,
    Limits limits,
    EnginesSettings engines,
    TierList tiers,
    Output files,
    @Nullable Path cache,
    @Nullable Path tierConfig,
    HardwareSettings hardware,
    SimulationSettings simulation,
    SloSettings slo,
    CostSettings cost) {
  /** Limits for callers and the queue, and rules for workers that fail. */
  public record Limits(
      QueueLimits queue, HttpLimits http, FailureRules failures, AdmissionSettings admission) {
    public static final Limits DEFAULT =
        new Limits(
            QueueLimits.DEFAULT,
            HttpLimits.DEFAULT,
            FailureRules.DEFAULT,
            AdmissionSettings.DEFAULT);

    /** These, with what can be changed while it runs: the queue, and what is admitted. */
    Limits withRunning(Limits from) {
      return new Limits(from.queue, http, failures, from.admission);
    }
  }

  /**
   * Logs, captures and traces.
   *
   * @param capture the traffic as a trace for the simulator; null for none
   * @param requests a line of JSON for each request; null for none
   * @param traces where OpenTelemetry's spans of each request are sent; null for nowhere
   * @param log how it is told what happens besides
   */
  public record Output(
      @Nullable Path capture, @Nullable Path requests, @Nullable URI traces, LogFormat log) {
    public static final Output DEFAULT = new Output(null, null, null, LogFormat.TEXT);

    public JournalFiles files() {
      return new JournalFiles(requests, capture, traces);
    }
  }

  public static final Deployment DEFAULT =
      new Deployment(
          ListenSettings.DEFAULT,
          List.of(),
          DiscoverySettings.DEFAULT,
          ReplicationSettings.DEFAULT,
          RoutingSettings.DEFAULT,
          Limits.DEFAULT,
          EnginesSettings.DEFAULT,
          TierList.EMBEDDED,
          Output.DEFAULT,
          null,
          null,
          HardwareSettings.DEFAULT,
          SimulationSettings.DEFAULT,
          SloSettings.DEFAULT,
          CostSettings.DEFAULT);

  /**
   * Settings with which the simulator starts without a file: one engine on a GPU, without tiers.
   */
  public static final Deployment ONE_GPU =
      new Deployment(
          ListenSettings.DEFAULT,
          List.of(),
          DiscoverySettings.DEFAULT,
          ReplicationSettings.DEFAULT,
          RoutingSettings.DEFAULT,
          Limits.DEFAULT,
          EnginesSettings.DEFAULT.times(1),
          TierList.NONE,
          Output.DEFAULT,
          null,
          null,
          HardwareSettings.DEFAULT.on(HardwareSettings.DEFAULT.gpuOrDefault()),
          SimulationSettings.DEFAULT,
          SloSettings.DEFAULT,
          CostSettings.DEFAULT);

  public Deployment {
    workers = List.copyOf(workers);
    for (int i = 0; i < workers.size(); i++) {
      if (workers.get(i).url().isEmpty()) {
        throw new IllegalArgumentException("worker " + (i + 1) + " has no url");
      }
    }
    var names = workers.stream().map(each -> each.worker().name()).toList();
    if (names.stream().distinct().count() < names.size()) {
      throw new IllegalArgumentException("two workers have the same name: " + names);
    }
  }

  /** Returns whether embedded engines answer. */
  public boolean isEmbedded() {
    return workers.isEmpty()
        && !discovery.isOn()
        && hardware.gpu() == null
        && engines.groups().isEmpty();
  }

  /** Refuses settings that can be simulated but not served. */
  public void requireServable() {
    if (replicas.isOn() && isEmbedded()) {
      throw new IllegalArgumentException(
          "replicas.server is %s, and there are no workers: several gateways share workers, not"
                  .formatted(replicas.server())
              + " embedded engines; name the servers under workers, or remove replicas.server");
    }
    if (!replicas.peers().isEmpty() && routing.tenantSecret() == null) {
      throw new IllegalArgumentException(
          "replicas.peers is %s, and there is no routing.tenant-secret, by which gateways know each"
                  .formatted(String.join(", ", replicas.peers()))
              + " other: set the same one in all gateways");
    }
    if (!workers.isEmpty() || discovery.isOn()) return;
    if (tierConfig != null) {
      throw new IllegalArgumentException(
          "tier-config is "
              + tierConfig
              + ", and there are no workers: embedded engines have their tiers under tiers");
    }
    if (hardware.gpu() != null) {
      throw new IllegalArgumentException(
          "hardware.gpu is %s, and there are no workers: embedded engines run on processors;"
                  .formatted(hardware.gpu())
              + " name the servers under workers, or remove hardware.gpu");
    }
    engines.requireEmbedded();
  }

  /** Returns what the engines share. */
  public List<ClusterSpec.Shared> sharing() {
    var written = engines.sharing();
    if (written != null) return written;
    return isEmbedded() ? List.of(ClusterSpec.Shared.values()) : List.of();
  }

  /** Returns whether one engine can answer a prompt that another has computed. */
  public boolean canHandOver() {
    if (engines.groups().canHandOver()) return true;
    if (workers.isEmpty()) return isEmbedded() ? !tiers.entries().isEmpty() : engines.prefill() > 0;
    return workers.stream().anyMatch(each -> each.connector() != Connector.NONE);
  }

  /** Returns how prompts are hashed: by tokens if workers publish KV events, else by bytes. */
  public Routing.Naming naming() {
    var chosen = routing.naming();
    if (chosen != null) return chosen;
    boolean hasEvents = isEmbedded() || discovery.eventsPort() > 0;
    hasEvents |= workers.stream().anyMatch(each -> !each.events().isEmpty());
    return hasEvents ? Routing.Naming.TOKENS : Routing.Naming.BYTES;
  }

  /** Returns whether workers get the class of a request as its priority. */
  private Routing.Priorities priorities() {
    return engines.isByPriority() ? Routing.Priorities.BY_CLASS : Routing.Priorities.AS_WRITTEN;
  }

  /** These settings, with those of the other that can change at run time. */
  public Deployment withRunning(Deployment from) {
    return with(listen.withRunning(from.listen), from.workers, limits.withRunning(from.limits));
  }

  /** These settings with the workers found so far. */
  public Deployment withFound(List<WorkerSettings> found) {
    return with(listen, found, limits);
  }

  private Deployment with(ListenSettings at, List<WorkerSettings> found, Limits bounds) {
    return Records.with(this, "listen", at, "workers", found, "limits", bounds);
  }

  public Path folder(Path usual) {
    return cache == null ? usual : cache;
  }

  /**
   * The settings of a gateway in front of these workers.
   *
   * @param contextTokens what a conversation may have with embedded engines; 0 for others
   */
  public GatewaySettings gateway(
      List<Worker> present, int contextTokens, ApiKeys keys, NameKey secret) {
    return GatewaySettings.of(listen.port(), present)
        .at(listen.api(limits.http(), keys), listen.admin(keys))
        .measuredAt(listen.metricsServer())
        .with(routing.routing(naming(), contextTokens).with(priorities()))
        .with(limits.queue())
        .admitting(limits.admission().policyIfAny())
        .with(limits.failures())
        .probing(routing.probePace())
        .with(files.files())
        .with(workerKey(), secret);
  }

  /** Returns the key sent to workers elsewhere, or an empty string for none. */
  private String workerKey() {
    var key = routing.workerKey();
    return key == null ? "" : key.reveal();
  }
}
