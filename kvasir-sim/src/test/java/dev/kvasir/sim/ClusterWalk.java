package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.router.flow.RetryRules;
import dev.kvasir.router.worker.EjectionRules;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.Outage;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.report.GroupTotal;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.result.Gaps;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.ClosedLoop;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** A {@link RandomCluster} at work, looked at after every event. */
final class ClusterWalk {
  private static final long EVENTS_MAX = 2_000_000;

  private final RandomGenerator random;
  private final int requests;
  private final Simulator simulator;
  private final boolean mortal;
  private long lastNanos;

  ClusterWalk(RandomGenerator random) {
    this.random = random;
    var cluster = new RandomCluster(random, 4);
    var made = cluster.requests();
    long arrivals = made.stream().mapToLong(Request::arrivalNanos).sum();
    var own = new SplittableRandom(arrivals + 1);
    boolean isMixed = own.nextInt(3) == 0;
    var requests = isMixed ? RandomCluster.withModels(own, made) : made;
    var spec = cluster.spec();
    var rows = own.nextBoolean() ? RandomCluster.patient(requests, spec) : requests;
    this.requests = rows.size();
    // Chance of its own: the clusters of a seed stay as they are.
    var outages = outages(new SplittableRandom(arrivals), spec);
    this.mortal = !outages.isEmpty();
    var retrying = mortal ? retrying(spec) : spec;
    var fleet = isMixed ? RandomCluster.mixed(own, retrying) : retrying;
    var latency = own.nextBoolean() ? RandomCluster.server(own) : cluster.latency();
    this.simulator = new Simulator(fleet.with(outages), latency, workload(rows));
  }

  /** In half of the clusters instances die, several times and at once, and most come back. */
  private List<Outage> outages(RandomGenerator chance, ClusterSpec spec) {
    var outages = new ArrayList<Outage>();
    boolean isStepped = !spec.instance().transfers().canShare();
    if (isStepped || chance.nextBoolean()) return outages;
    for (int i = 1 + chance.nextInt(6); i > 0; i--) {
      var from = Duration.ofNanos(chance.nextLong(requests * 300_000L));
      var lasting = Duration.ofNanos(1 + chance.nextInt(20_000_000));
      var until = chance.nextInt(5) == 0 ? null : from.plus(lasting);
      outages.add(new Outage(chance.nextInt(spec.roles().size()), from, until));
    }
    return outages;
  }

  static ClusterSpec retrying(ClusterSpec spec) {
    var routing = spec.routing();
    var ejection = new EjectionRules(2, Duration.ofMillis(5), 0);
    var retries = new RetryRules(3, RetryRules.Split.FALL_BACK, Duration.ofMillis(50));
    var flow = new FlowSettings(QueueLimits.NONE, retries, ejection, routing.flow().admission());
    var other =
        new RoutingSpec(
            routing.settings(),
            flow,
            routing.tenants(),
            routing.picks(),
            routing.placements(),
            routing.signalInterval(),
            routing.awareness());
    return ClusterSpec.apart(spec.roles(), spec.instance(), other, spec.handOver());
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
        assertThat(pool.free() + pool.countHeld() + pool.cached()).isEqualTo(pool.total());
      }
    }
    // What a dead instance was computing ends with its step, when it is elsewhere already.
    if (!mortal) assertThat(present).isLessThanOrEqualTo(simulator.underWay());
  }

  private void checkEnd() {
    assertThat(simulator.underWay()).isZero();
    var flow = simulator.flow();
    assertThat(flow.inFlight() + flow.waiting() + flow.counted()).isZero();
    for (var instance : simulator.instances()) {
      var load = simulator.router().load(instance.index());
      assertThat(load.inFlight() + load.placements()).isZero();
      for (var pool : instance.pools()) {
        assertThat(pool.held()).as(pool.tier() + " of " + instance.index()).isZero();
      }
    }
    var run = simulator.result();
    assertThat(run.requests()).isNotEmpty().hasSizeLessThanOrEqualTo(requests);
    for (var request : run.requests()) checkRequest(request);
    checkGaps(run);
    var summary = Summary.of(run, new Summary.Scale(4, 1000, Goodput.Targets.NONE));
    if (!run.groups().isEmpty()) checkModels(run, summary);
  }

  /** The times between tokens are those of the answers, one for each token but the first. */
  private void checkGaps(RunResult run) {
    var counted = new Gaps();
    for (var instance : run.instances()) counted.addAll(instance.gaps());
    var answered = new Gaps();
    boolean isWhole = true;
    for (var each : run.requests()) {
      isWhole &=
          each.ending() == RequestEnding.COMPLETED || each.ending() == RequestEnding.REJECTED;
      if (each.ending() != RequestEnding.COMPLETED || each.gaps() == 0) continue;
      long elapsed = each.e2eMicros() - each.ttftMicros();
      assertThat(each.gapMicros()).as(each.toString()).isEqualTo(elapsed);
      for (int i = 0; i < each.gaps(); i++) answered.add((elapsed + i) / each.gaps(), 1);
    }
    // Nobody heard the tokens that a dead instance was about to send.
    if (!isWhole || mortal) return;
    assertThat(counted.count()).isEqualTo(answered.count());
    double all = counted.meanMicros() * counted.count();
    double wanted = answered.meanMicros() * answered.count();
    // Each time is cut to a microsecond.
    assertThat(all).isCloseTo(wanted, within(2.0 * run.requests().size()));
  }

  /** Each request was answered by its model, or by nobody; and every one is counted. */
  private static void checkModels(RunResult run, Summary summary) {
    var served = run.groups().stream().map(RunResult.Group::model).toList();
    for (var each : run.requests()) {
      var model = each.request().caller().model();
      if (each.instance() >= 0) {
        var by = served.get(each.instance());
        assertThat(by.isEmpty() || model.isEmpty() || by.equals(model))
            .as(each.toString())
            .isTrue();
      }
      boolean isKnown = model.isEmpty() || served.contains("") || served.contains(model);
      if (!isKnown) assertThat(each.ending()).isEqualTo(RequestEnding.REJECTED);
    }
    assertThat(summary.models().stream().mapToLong(GroupTotal::requests).sum())
        .isEqualTo(run.requests().size());
    assertThat(summary.groups().stream().mapToLong(GroupTotal::completed).sum())
        .isEqualTo(summary.completedRequests());
  }

  private static void checkRequest(RequestResult request) {
    var what = request.toString();
    assertThat(request.ending()).as(what).isNotEqualTo(RequestEnding.UNFINISHED);
    if (request.ending() == RequestEnding.COMPLETED) {
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

  private Workload workload(List<Request> rows) {
    return random.nextBoolean()
        ? Workload.open(rows.iterator())
        : ClosedLoop.thinking(rows.iterator(), Duration.ofNanos(random.nextInt(1_000_000)));
  }
}
