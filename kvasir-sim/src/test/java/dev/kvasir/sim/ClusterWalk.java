package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.sim.report.Ending;
import dev.kvasir.sim.report.RequestResult;
import dev.kvasir.sim.workload.ClosedLoop;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/** A {@link RandomCluster} at work, looked at after every event. */
final class ClusterWalk {
  private static final long EVENTS_MAX = 2_000_000;

  private final RandomGenerator random;
  private final int requests;
  private final Simulator simulator;
  private long lastNanos;

  ClusterWalk(RandomGenerator random) {
    this.random = random;
    var cluster = new RandomCluster(random, 4);
    var rows = cluster.requests();
    this.requests = rows.size();
    this.simulator = new Simulator(cluster.spec(), cluster.latency(), workload(rows));
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

  private Workload workload(List<Request> rows) {
    return random.nextBoolean()
        ? Workload.open(rows.iterator())
        : ClosedLoop.thinking(rows.iterator(), Duration.ofNanos(random.nextInt(1_000_000)));
  }
}
