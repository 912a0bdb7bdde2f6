package dev.kvasir.sim;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.engine.SchedulingPolicy;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.blis.StepTransfers;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.server.ServerModel;
import dev.kvasir.sim.server.ServerTimes;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;

/** A cluster made by chance and short of everything, and what is asked of it. */
final class RandomCluster {
  private final RandomGenerator random;
  private final int blockTokens;
  private final int blocks;
  private final int requests;

  RandomCluster(RandomGenerator random, int blockTokens) {
    this.random = random;
    this.blockTokens = blockTokens;
    this.blocks = 8 + random.nextInt(56);
    this.requests = 20 + random.nextInt(100);
  }

  LatencyModel latency() {
    return LinearModel.of(List.of(random.nextInt(2) * 100.0, 0.5, 3.0), betas());
  }

  private List<Double> betas() {
    return List.of(20.0 + random.nextInt(500), random.nextDouble() * 10, random.nextDouble() * 20);
  }

  ClusterSpec spec() {
    var picks = pick("round-robin", "least-loaded", "balanced", "weighted", "longest-prefix");
    var placement = pick("never", "always", "predictive", "threshold");
    var roles = new ArrayList<Role>();
    for (int i = 1 + random.nextInt(4); i > 0; i--) roles.add(Role.BOTH);
    if (!placement.equals("never") && roles.size() > 1 && random.nextBoolean()) {
      roles.set(0, Role.PREFILL);
      roles.set(1, random.nextBoolean() ? Role.DECODE : Role.BOTH);
    }
    return Clusters.of(roles, instance(), picks, placement);
  }

  /** Instances that have nothing to do with each other. */
  ClusterSpec apart(String... picks) {
    var roles = Collections.nCopies(1 + random.nextInt(4), Role.BOTH);
    return Clusters.of(roles, instance(), pick(picks), "never");
  }

  private InstanceSpec instance() {
    var eviction = pick("lru", "lineage", "fifo", "multi-lru", "s3-fifo");
    return random.nextInt(4) == 0
        ? new InstanceSpec(
            engine(), blocks, blockTokens, eviction, tiers(1), new StepTransfers(0.5))
        : new InstanceSpec(
            engine(), blocks, blockTokens, eviction, tiers(3), new TransferModel.Event());
  }

  private EngineSettings engine() {
    var orders = SchedulingPolicy.values();
    return EngineSettings.of(
        1 + random.nextInt(8),
        4 + random.nextInt(60),
        random.nextBoolean() ? 0 : 1 + random.nextInt(16),
        // Whatever is taken on can be held to its end.
        blocks * blockTokens,
        orders[random.nextInt(orders.length)],
        random.nextBoolean() ? Victim.NEWEST : Victim.LEAST_URGENT);
  }

  private List<TierSpec> tiers(int most) {
    var kinds = List.of(Tier.HOST, Tier.DISK, Tier.OBJECT);
    var tiers = new ArrayList<TierSpec>();
    for (var kind : kinds.subList(0, random.nextInt(most + 1))) {
      tiers.add(
          new TierSpec(
              kind,
              4 + random.nextInt(100),
              0.1 + random.nextDouble() * 10,
              Duration.ofNanos(random.nextInt(200_000))));
    }
    return tiers;
  }

  /**
   * The same cluster with instances that differ: each has times, memory and perhaps a model of its
   * own.
   */
  static ClusterSpec mixed(RandomGenerator chance, ClusterSpec spec) {
    boolean isSplit = spec.roles().stream().anyMatch(role -> role != Role.BOTH);
    var groups = new ArrayList<ClusterSpec.Group>();
    for (int i = 0; i < spec.roles().size(); i++) {
      var usual = spec.instance();
      var instance =
          new InstanceSpec(
              usual.engine(),
              usual.blocks() + chance.nextInt(20),
              usual.blockTokens(),
              usual.eviction(),
              usual.tiers(),
              usual.transfers());
      var model = isSplit ? "" : List.of("", "a", "a", "b", "b").get(chance.nextInt(5));
      var alphas = List.of(chance.nextInt(2) * 100.0, 0.0, 3.0);
      var betas = List.of(20.0 + chance.nextInt(500), 10 * chance.nextDouble(), 5.0);
      var role = spec.roles().get(i);
      long bytes = chance.nextInt(3) * 50L;
      var latency = LinearModel.of(alphas, betas);
      groups.add(new ClusterSpec.Group("g" + i, model, 1, role, bytes, instance, latency));
    }
    return ClusterSpec.mixed(groups, spec.routing(), spec.handOver());
  }

  /** The times of a server whose steps are launched ahead, and whose tokens wait for each other. */
  static LatencyModel server(RandomGenerator chance) {
    double launch = 200.0 + chance.nextInt(2000);
    var engine =
        new ServerTimes.Engine(
            launch, 5, 0.2, launch / (1 + chance.nextInt(20)), 1, 100, 3, 0.1, 0.5, 2, 20);
    int calls = 1 + chance.nextInt(2);
    double end = chance.nextInt(3) * 60.0;
    var front =
        new ServerTimes.Front(calls, 50, 0.1, 80, 0.3, 0.5, 60, 30, chance.nextInt(90), end);
    return new ServerModel(new ServerTimes(engine, front, new ServerTimes.WarmUp(0.5, 0.5, 10)));
  }

  /** The same requests from callers that wait, with no more output than there is room for. */
  static List<Request> patient(List<Request> rows, ClusterSpec spec) {
    int room = spec.instance().blocks() * spec.instance().blockTokens();
    var patient = new ArrayList<Request>();
    for (var each : rows) {
      patient.add(
          new Request(
              each.id(),
              each.arrivalNanos(),
              each.promptTokens(),
              Math.min(each.outputTokens(), Math.max(1, room - each.promptTokens())),
              each.content(),
              each.caller(),
              each.turn(),
              0));
    }
    return patient;
  }

  /** The same requests, for any model, for one of two, or for one that nobody has. */
  static List<Request> withModels(RandomGenerator chance, List<Request> rows) {
    var models = List.of("", "a", "a", "b", "b", "nobody's");
    var requests = new ArrayList<Request>();
    for (var each : rows) {
      var model = models.get(chance.nextInt(models.size()));
      var caller = new TraceCaller(each.caller().tenant(), each.caller().sloClass(), model);
      requests.add(
          new Request(
              each.id(),
              each.arrivalNanos(),
              each.promptTokens(),
              each.outputTokens(),
              each.content(),
              caller,
              each.turn(),
              each.deadlineNanos()));
    }
    return requests;
  }

  /** In the order of arrival. */
  List<Request> requests() {
    var rows = new ArrayList<Request>();
    for (int i = 0; i < requests; i++) rows.add(request(i));
    rows.sort(Comparator.comparingLong(Request::arrivalNanos));
    return rows;
  }

  private Request request(int index) {
    long arrival = random.nextLong(requests * 300_000L);
    int prompt = 1 + random.nextInt(blocks * blockTokens);
    int output = random.nextInt(40);
    var session = random.nextInt(3) == 0 ? "session " + random.nextInt(5) : "";
    var content =
        random.nextBoolean()
            ? Content.shared(random.nextInt(3), random.nextInt(prompt + 1), index)
            : Content.session(0, 0, Content.number(session));
    var caller = new TraceCaller("", pick("", "critical", "batch", "background"));
    long deadline = random.nextInt(4) == 0 ? arrival + 1 + random.nextInt(20_000_000) : 0;
    var turn = session.isEmpty() ? Turn.ALONE : new Turn(session, index, 0);
    return new Request(
        "request_" + index, arrival, prompt, output, content, caller, turn, deadline);
  }

  private String pick(String... names) {
    return names[random.nextInt(names.length)];
  }
}
