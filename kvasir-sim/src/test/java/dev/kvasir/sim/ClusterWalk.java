package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.BatchQuirk;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.engine.SchedulingPolicy;
import dev.kvasir.kv.Tier;
import dev.kvasir.router.Role;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.report.Ending;
import dev.kvasir.sim.report.RequestResult;
import dev.kvasir.sim.workload.Caller;
import dev.kvasir.sim.workload.ClosedLoop;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.random.RandomGenerator;

/** A cluster made by chance and short of everything, looked at after every event. */
final class ClusterWalk {
  private static final long EVENTS_MAX = 2_000_000;
  private static final int TOKENS = 4;

  private final RandomGenerator random;
  private final int blocks;
  private final int requests;
  private final Simulator simulator;
  private long lastNanos;

  ClusterWalk(RandomGenerator random) {
    this.random = random;
    this.blocks = 8 + random.nextInt(56);
    this.requests = 20 + random.nextInt(100);
    var latency = LinearModel.of(List.of(random.nextInt(2) * 100.0, 0.5, 3.0), betas());
    this.simulator = new Simulator(cluster(), latency, workload());
  }

  private List<Double> betas() {
    return List.of(20.0 + random.nextInt(500), random.nextDouble() * 10, random.nextDouble() * 20);
  }

  void run() {
    simulator.begin();
    long events = 0;
    while (simulator.step()) {
      check();
      assertThat(++events).as("events without an end").isLessThan(EVENTS_MAX);
    }
    checkEnd();
  }

  private void check() {
    long now = simulator.loop().nanos();
    assertThat(now).isGreaterThanOrEqualTo(lastNanos);
    lastNanos = now;
    long present = 0;
    for (var instance : simulator.instances()) {
      var load = instance.load();
      present += load.waiting() + load.running();
      for (var pool : instance.pools()) {
        assertThat(pool.free() + pool.held() + pool.cached()).isEqualTo(pool.total());
      }
    }
    assertThat(present).isLessThanOrEqualTo(simulator.underWay());
  }

  private void checkEnd() {
    assertThat(simulator.underWay()).isZero();
    for (var instance : simulator.instances()) {
      for (var pool : instance.pools()) {
        assertThat(pool.held()).as(pool.tier() + " of " + instance.index()).isZero();
      }
    }
    var run = simulator.result();
    assertThat(run.requests()).isNotEmpty().hasSizeLessThanOrEqualTo(requests);
    for (var request : run.requests()) checkRequest(request);
  }

  private static void checkRequest(RequestResult request) {
    var what = request.toString();
    assertThat(request.ending()).as(what).isNotEqualTo(Ending.UNFINISHED);
    if (request.ending() == Ending.COMPLETED) {
      assertThat(request.schedulingMicros()).as(what).isNotNegative();
      assertThat(request.ttftMicros()).as(what).isPositive();
      assertThat(request.schedulingMicros()).as(what).isLessThanOrEqualTo(request.ttftMicros());
      assertThat(request.ttftMicros()).as(what).isLessThanOrEqualTo(request.e2eMicros());
      assertThat(request.outputTokens()).as(what).isEqualTo(request.request().outputTokens());
    } else {
      assertThat(request.e2eMicros()).as(what).isEqualTo(RequestResult.NEVER);
    }
    assertThat(request.cachedTokens()).as(what).isBetween(0, request.request().promptTokens());
  }

  private ClusterSpec cluster() {
    var picks = pick("round-robin", "least-loaded", "balanced", "weighted", "longest-prefix");
    var placement = pick("never", "always", "predictive", "seed-heuristic");
    var roles = new ArrayList<Role>();
    for (int i = 1 + random.nextInt(4); i > 0; i--) roles.add(Role.BOTH);
    if (!placement.equals("never") && roles.size() > 1 && random.nextBoolean()) {
      roles.set(0, Role.PREFILL);
      roles.set(1, random.nextBoolean() ? Role.DECODE : Role.BOTH);
    }
    return Clusters.of(roles, instance(), picks, placement);
  }

  private InstanceSpec instance() {
    var eviction = pick("lru", "lineage", "fifo", "multi-lru", "s3-fifo");
    return random.nextInt(4) == 0
        ? new InstanceSpec(
            engine(), blocks, TOKENS, eviction, tiers(1), new TransferModel.Step(0.5))
        : new InstanceSpec(engine(), blocks, TOKENS, eviction, tiers(3), new TransferModel.Event());
  }

  private EngineSettings engine() {
    var orders = SchedulingPolicy.values();
    return new EngineSettings(
        1 + random.nextInt(8),
        4 + random.nextInt(60),
        random.nextBoolean() ? 0 : 1 + random.nextInt(16),
        // Whatever is taken on can be held to its end.
        blocks * TOKENS,
        orders[random.nextInt(orders.length)],
        random.nextBoolean() ? Victim.NEWEST : Victim.LEAST_URGENT,
        EnumSet.noneOf(BatchQuirk.class));
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

  private Workload workload() {
    var rows = new ArrayList<Request>();
    for (int i = 0; i < requests; i++) rows.add(request(i));
    rows.sort(Comparator.comparingLong(Request::arrivalNanos));
    return random.nextBoolean()
        ? Workload.open(rows.iterator())
        : ClosedLoop.thinking(rows.iterator(), Duration.ofNanos(random.nextInt(1_000_000)));
  }

  private Request request(int index) {
    long arrival = random.nextLong(requests * 300_000L);
    int prompt = 1 + random.nextInt(blocks * TOKENS);
    int output = random.nextInt(40);
    var session = random.nextInt(3) == 0 ? "session " + random.nextInt(5) : "";
    var content =
        random.nextBoolean()
            ? Content.shared(random.nextInt(3), random.nextInt(prompt + 1), index)
            : Content.session(Content.number(session));
    var caller = new Caller("", pick("", "critical", "batch", "background"));
    long deadline = random.nextInt(4) == 0 ? arrival + 1 + random.nextInt(20_000_000) : 0;
    var turn = session.isEmpty() ? Turn.ALONE : new Turn(session, index, 0);
    return new Request(
        "request_" + index, arrival, prompt, output, content, caller, turn, deadline);
  }

  private String pick(String... names) {
    return names[random.nextInt(names.length)];
  }
}
