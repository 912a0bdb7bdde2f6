package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.view.Role;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.ClusterSpec.Replication;
import dev.kvasir.sim.cluster.ClusterSpec.Replication.Sharing;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Several gateways in front of simulated engines. */
class SimulatedGatewaysTest {
  private static final int ENGINES = 4;
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(50.0, 2.0, 1.0));

  private static ClusterSpec engines() {
    var instance = Clusters.alone(Clusters.engine(8, 256), 400, 4);
    return Clusters.of(Collections.nCopies(ENGINES, Role.BOTH), instance, "balanced", "never");
  }

  private static Simulator simulator(int gateways, Sharing sharing, Duration delay, long seed) {
    var others = new ArrayList<RoutingSpec>();
    for (int i = 1; i < gateways; i++) others.add(engines().routing());
    var spec = engines().with(new Replication(others, sharing, delay));
    return new Simulator(spec, MODEL, Workload.open(requests(400, seed).iterator()));
  }

  private static List<Request> requests(int count, long seed) {
    var random = new SplittableRandom(seed);
    var requests = new ArrayList<Request>();
    long nanos = 0;
    for (int i = 0; i < count; i++) {
      nanos += random.nextInt(400_000);
      int tokens = 40 + random.nextInt(200);
      requests.add(
          new Request(
              "r" + i,
              nanos,
              tokens,
              5,
              Content.unique(i + 1),
              TraceCaller.ANYBODY,
              Turn.ALONE,
              0));
    }
    return requests;
  }

  private static RunResult run(int gateways, Sharing sharing, Duration delay) {
    return simulator(gateways, sharing, delay, 1).run(_ -> {});
  }

  private static double meanFirst(RunResult run) {
    return run.requests().stream().mapToLong(each -> each.ttftMicros()).average().orElseThrow();
  }

  @Test
  void allRequestsAreServedAndTheBooksOfAllGatewaysAreEmptyInTheEnd() {
    for (long seed = 1; seed <= 10; seed++) {
      var simulator = simulator(3, Sharing.BOOKED, Duration.ofMillis(seed % 4), seed);
      var run = simulator.run(_ -> {});
      assertThat(run.requests()).hasSize(400);
      assertThat(run.requests()).allMatch(each -> each.ending() == RequestEnding.COMPLETED);
      simulator.loop().runFor(Duration.ofSeconds(2));
      for (var gateway : simulator.gateways()) {
        assertThat(gateway.flow().inFlight()).isZero();
        assertThat(gateway.router().opened()).isBetween(133L, 134L);
        for (int id : gateway.router().instances()) {
          assertThat(gateway.router().load(id).inFlight()).isZero();
        }
      }
    }
  }

  @Test
  void freshNewsAreWorthMoreThanOldOnesAndThoseMoreThanNone() {
    double one = meanFirst(run(1, Sharing.NONE, Duration.ZERO));
    double fresh = meanFirst(run(4, Sharing.BOOKED, Duration.ZERO));
    double apart = meanFirst(run(4, Sharing.NONE, Duration.ZERO));
    assertThat(fresh).isLessThan(one * 1.05);
    assertThat(apart).isGreaterThan(fresh * 1.05);
  }

  /** Eight at a time, of very different lengths. */
  private static double inBursts(int gateways, Sharing sharing) {
    var random = new SplittableRandom(1);
    var requests = new ArrayList<Request>();
    for (int i = 0; i < 1_600; i++) {
      long nanos = i / 8 * 100_000_000L;
      int tokens = 40 + random.nextInt(random.nextInt(3) == 0 ? 1_200 : 100);
      requests.add(
          new Request(
              "r" + i,
              nanos,
              tokens,
              5,
              Content.unique(i + 1),
              TraceCaller.ANYBODY,
              Turn.ALONE,
              0));
    }
    var others = new ArrayList<RoutingSpec>();
    for (int i = 1; i < gateways; i++) others.add(engines().routing());
    var spec = engines().with(new Replication(others, sharing, Duration.ofNanos(50_000)));
    return meanFirst(new Simulator(spec, MODEL, Workload.open(requests.iterator())).run(_ -> {}));
  }

  @Test
  void gatewaysThatAreAskedAtTheSameMomentTakeTurns() {
    double one = inBursts(1, Sharing.NONE);
    double apart = inBursts(4, Sharing.NONE);
    double shared = inBursts(4, Sharing.BOOKED);
    System.out.printf(
        Locale.ROOT,
        "first token in bursts: %.0f us with one gateway, %.0f with four, %.0f if they share"
            + " nothing%n",
        one,
        shared,
        apart);
    assertThat(shared).isLessThan(one * 1.15);
    assertThat(apart).isGreaterThan(shared * 1.1);
  }

  @Test
  void theSameSeedGivesTheSameRun() {
    var first = run(4, Sharing.BOOKED, Duration.ofMillis(3));
    var second = run(4, Sharing.BOOKED, Duration.ofMillis(3));
    assertThat(second.requests()).isEqualTo(first.requests());
  }
}
