package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.pick.BalancedPick;
import dev.kvasir.router.pick.BalancedPick.Prices;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Long and short requests on engines whose memory holds few of the long ones. */
class MemoryPressureTest {
  private static final int SEEDS = 20;
  private static final int REQUESTS = 300;
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(5_000.0, 20.0, 50.0));

  /** Every fifth is long, and holds a quarter of an engine's memory for seconds. */
  private static List<Request> requests(long seed) {
    var random = new SplittableRandom(seed);
    var requests = new ArrayList<Request>();
    double nanos = 0;
    for (int i = 0; i < REQUESTS; i++) {
      nanos += -Math.log(1 - random.nextDouble()) * 34e6;
      boolean isLong = random.nextInt(5) == 0;
      requests.add(
          new Request(
              "r" + i,
              (long) nanos,
              isLong ? 1_500 : 100 + random.nextInt(100),
              isLong ? 300 : 20,
              Content.unique(i + 1),
              new TraceCaller("", ""),
              Turn.ALONE,
              0));
    }
    return requests;
  }

  /** The first tokens of a run, each in microseconds, in order. */
  private static List<Long> firstTokens(long seed, Prices prices) {
    var instance = Clusters.alone(Clusters.engine(64, 2_048), 400, 16);
    var spec = Clusters.of(Collections.nCopies(4, Role.BOTH), instance, "balanced", "never");
    var usual = spec.routing();
    var routing =
        new RoutingSpec(
            usual.settings(),
            usual.flow(),
            usual.tenants(),
            new BalancedPick(prices, Ties.first()),
            usual.placements(),
            usual.signalInterval(),
            usual.awareness());
    var cluster = ClusterSpec.apart(spec.roles(), spec.instance(), routing, spec.handOver());
    var run = new Simulator(cluster, MODEL, Workload.open(requests(seed).iterator())).run(_ -> {});
    assertThat(run.requests()).allMatch(each -> each.ending() == RequestEnding.COMPLETED);
    return run.requests().stream().map(RequestResult::ttftMicros).sorted().toList();
  }

  @Test
  void requestsGoWhereThereIsMemoryForThem() {
    var usual = Prices.DEFAULT;
    var blind = new Prices(usual.rework(), usual.recent(), usual.stream(), usual.context(), 0);
    double seen = 0;
    double unseen = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      seen += firstTokens(seed, usual).get(REQUESTS * 95 / 100);
      unseen += firstTokens(seed, blind).get(REQUESTS * 95 / 100);
    }
    System.out.printf(
        "p95 of the first token, mean of %d seeds: %.0f ms with memory seen, %.0f ms without%n",
        SEEDS, seen / SEEDS / 1_000, unseen / SEEDS / 1_000);
    assertThat(seen).isLessThan(0.9 * unseen);
  }
}
