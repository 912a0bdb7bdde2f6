package dev.kvasir.router.pick;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvasir.Seeds;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.Views;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The scores and ties of weighted routing, number by number. */
class WeightedPickTest {
  private static final RouteRequest REQUEST = RouteRequest.of("", 64, Views.hashes(0, 4));

  @Test
  void cachedBlocksCountBetweenTheLeastAndTheMost() {
    assertThat(scores("precise-prefix-cache:1", cached(0, 2), cached(1, 5), cached(2, 3)))
        .containsExactly(0, 1, 1.0 / 3);
    assertThat(scores("precise-prefix-cache:1", cached(0, 0), cached(1, 0))).containsExactly(1, 1);
  }

  @Test
  void queuesCountBetweenTheLongestAndTheShortestWhateverElseIsThere() {
    assertThat(scores("queue-depth:1", view(0, 4, 0, 0), view(1, 1, 9, 9), view(2, 2, 0, 0)))
        .containsExactly(0, 1, 2.0 / 3);
    assertThat(scores("queue-depth:1", view(0, 3, 0, 0), view(1, 3, 5, 0))).containsExactly(1, 1);
  }

  @Test
  void utilisationCountsByWhatIsLeft() {
    assertThat(scores("kv-utilization:1", used(0, 0.25), used(1, 1))).containsExactly(0.75, 0);
  }

  @Test
  void theHitRateThatAnInstanceTellsCountsAndOneThatTellsNothingIsInTheMiddle() {
    assertThat(scores("cache-hit-rate:1", hitting(0, 0.25), hitting(1, 0.75), view(2, 0, 0, 0)))
        .containsExactly(0.25, 0.75, 0.5);
  }

  @Test
  void loadBalanceCountsTheWholeEffectiveLoad() {
    assertThat(scores("load-balance:1", view(0, 1, 1, 1), view(1, 0, 0, 0)))
        .containsExactly(0.25, 1);
  }

  @Test
  void activeRequestsAreMeasuredAgainstTheMostAlone() {
    assertThat(scores("active-requests:1", view(0, 0, 0, 4), view(1, 0, 0, 1), view(2, 0, 0, 0)))
        .containsExactly(0, 0.75, 1);
    assertThat(scores("active-requests:1", view(0, 0, 0, 2), view(1, 0, 0, 2)))
        .containsExactly(0, 0);
  }

  @Test
  void runningRequestsCountBetweenTheMostAndTheFewest() {
    assertThat(scores("running-requests:1", view(0, 0, 8, 0), view(1, 0, 4, 0), view(2, 0, 0, 0)))
        .containsExactly(0, 0.5, 1);
  }

  @Test
  void loadAwareGivesHalfAtMostAndNothingFrom128On() {
    assertThat(
            scores(
                "load-aware:1",
                view(0, 0, 0, 0),
                view(1, 32, 0, 0),
                view(2, 128, 0, 0),
                view(3, 500, 0, 0)))
        .containsExactly(0.5, 0.375, 0, 0);
  }

  @Test
  void dataParallelRuleCountsWaitingFourTimes() {
    // 4 + 3, 0 + 8 and 8 + 1.
    assertThat(scores("vllm-dp:1", view(0, 1, 3, 0), view(1, 0, 8, 0), view(2, 2, 1, 0)))
        .containsExactly(1, 0.5, 0);
  }

  @Test
  void prefixAffinityRemembersWhatWasPicked() {
    var pick = weighted("prefix-affinity:1", Ties.first());
    var cluster = Views.cluster(view(0, 0, 0, 0), view(1, 0, 0, 0));
    assertThat(pick.scores(REQUEST, cluster)).containsExactly(0, 0);
    assertThat(pick.pick(REQUEST, cluster).id()).isZero();
    var longer = RouteRequest.of("", 128, Views.hashes(0, 8));
    assertThat(pick.scores(longer, cluster)).containsExactly(0.5, 0);
    assertThat(pick.scores(RouteRequest.of("", 5, List.of()), cluster)).containsExactly(0, 0);
  }

  @Test
  void prefixAffinityForgetsTheOldestBeyondTenThousandBlocks() {
    var pick = weighted("prefix-affinity:1", Ties.first());
    var cluster = Views.cluster(view(0, 0, 0, 0));
    pick.pick(RouteRequest.of("", 1, Views.hashes(0, 10_000)), cluster);
    pick.pick(RouteRequest.of("", 1, Views.hashes(1, 1)), cluster);
    pick.pick(RouteRequest.of("", 1, Views.hashes(20_000, 2)), cluster);
    assertThat(pick.scores(RouteRequest.of("", 1, Views.hashes(0, 1)), cluster)).containsExactly(0);
    assertThat(pick.scores(RouteRequest.of("", 1, Views.hashes(1, 1)), cluster)).containsExactly(1);
    assertThat(pick.scores(RouteRequest.of("", 1, Views.hashes(2, 1)), cluster)).containsExactly(0);
    assertThat(pick.scores(RouteRequest.of("", 1, Views.hashes(3, 1)), cluster)).containsExactly(1);
  }

  @Test
  void coldRequestsGoToTheNeverUsedFirstAndThenToTheLongestUnused() {
    var pick = weighted("no-hit-lru:1", Ties.first());
    var cluster = Views.cluster(view(0, 0, 0, 0), view(1, 0, 0, 0), view(2, 0, 0, 0));
    assertThat(pick.scores(REQUEST, cluster)).containsExactly(1, 0.5, 0);
    assertThat(pick.pick(REQUEST, cluster).id()).isZero();
    assertThat(pick.scores(REQUEST, cluster)).containsExactly(0, 1, 0.5);
    assertThat(pick.pick(REQUEST, cluster).id()).isEqualTo(1);
    assertThat(pick.scores(REQUEST, cluster)).containsExactly(0.5, 0, 1);
    assertThat(pick.pick(REQUEST, cluster).id()).isEqualTo(2);
    assertThat(pick.scores(REQUEST, cluster)).containsExactly(1, 0.5, 0);
  }

  @Test
  void warmRequestsAreNeutralAndLeaveTheOrderOfColdOnes() {
    var pick = weighted("no-hit-lru:1", Ties.first());
    var warm = Views.cluster(cached(0, 1), cached(1, 0));
    assertThat(pick.scores(REQUEST, warm)).containsExactly(0.5, 0.5);
    pick.pick(REQUEST, warm);
    var cold = Views.cluster(cached(0, 0), cached(1, 0));
    assertThat(pick.scores(REQUEST, cold)).containsExactly(1, 0);
    assertThat(weighted("no-hit-lru:1", Ties.first()).scores(REQUEST, Views.cluster(cached(0, 0))))
        .containsExactly(1);
  }

  @Test
  void weightsAreSharesOfTheirSumAndAddUpInOrder() {
    var views = new InstanceView[] {used(0, 0.3), used(1, 0.1)};
    double share = 2.0 / 7;
    double expected = 0.0 + 1 * (3.0 / 7);
    expected += (1 - 0.3) * share;
    expected += 1 * share;
    assertThat(scores("precise-prefix-cache:3,kv-utilization:2,queue-depth:2", views)[0])
        .isEqualTo(expected);
  }

  @Test
  void tiesAreDrawnOnlyAmongExactlyEqualSumsAndOnlyThen() {
    var draws = new ArrayList<Integer>();
    Ties ties =
        count -> {
          draws.add(count);
          return count - 1;
        };
    var pick = weighted(WeightedPick.SCORERS_DEFAULT, ties);
    assertThat(pick.pick(REQUEST, Views.cluster(used(0, 0.5), used(1, 0.1))).id()).isEqualTo(1);
    assertThat(draws).isEmpty();
    var three = Views.cluster(used(0, 0.1), used(1, 0.5), used(2, 0.1), used(3, 0.1));
    assertThat(pick.pick(REQUEST, three).id()).isEqualTo(3);
    assertThat(draws).containsExactly(3);
  }

  @Test
  void leastLoadedDrawsAmongThoseWithTheLeastEffectiveLoad() {
    var draws = new ArrayList<Integer>();
    var pick =
        PickPolicy.leastLoaded(
            count -> {
              draws.add(count);
              return 1;
            },
            InstanceView::effectiveLoad);
    var cluster = Views.cluster(view(0, 1, 1, 1), view(1, 2, 0, 0), view(2, 0, 0, 2));
    assertThat(pick.pick(REQUEST, cluster).id()).isEqualTo(2);
    assertThat(draws).containsExactly(2);
  }

  @Test
  void everyScoreLiesBetweenNothingAndOne() {
    Seeds.each(
        200,
        random -> {
          var views = new InstanceView[1 + random.nextInt(9)];
          for (int id = 0; id < views.length; id++) {
            views[id] =
                InstanceView.of(
                    id,
                    EngineSignals.of(random.nextInt(200), random.nextInt(20), random.nextDouble()),
                    Load.inFlight(random.nextInt(9)),
                    CachedBlocks.onDevice(random.nextInt(5)));
          }
          for (var name : names()) {
            for (double score : scores(name + ":1", views)) assertThat(score).isBetween(0.0, 1.0);
          }
        });
  }

  @Test
  void scorersAreReadByNameAndWeight() {
    assertThat(Scorer.parse("queue-depth:1.5, load-aware : 2"))
        .extracting(Scorer.Weighted::name, Scorer.Weighted::weight)
        .containsExactly(tuple("queue-depth", 1.5), tuple("load-aware", 2.0));
  }

  @Test
  void malformedScorersAreRefusedWithWhatIsExpected() {
    assertThatThrownBy(() -> Scorer.parse("queue-depht:1"))
        .hasMessageContaining("\"queue-depht:1\", expected NAME:WEIGHT")
        .hasMessageContaining("kv-utilization");
    assertThatThrownBy(() -> Scorer.parse("queue-depth")).hasMessageContaining("NAME:WEIGHT");
    assertThatThrownBy(() -> Scorer.parse("queue-depth:much")).hasMessageContaining("a number");
    assertThatThrownBy(() -> Scorer.parse("queue-depth:0")).hasMessageContaining("weight 0");
    assertThatThrownBy(() -> Scorer.parse("queue-depth:1,queue-depth:2"))
        .hasMessageContaining("stands twice");
  }

  private static List<String> names() {
    return List.of(
        "precise-prefix-cache",
        "queue-depth",
        "kv-utilization",
        "load-balance",
        "prefix-affinity",
        "no-hit-lru",
        "active-requests",
        "running-requests",
        "load-aware",
        "vllm-dp");
  }

  private static double[] scores(String scorers, InstanceView... views) {
    return weighted(scorers, Ties.first()).scores(REQUEST, Views.cluster(views));
  }

  private static WeightedPick weighted(String scorers, Ties ties) {
    return new WeightedPick(Scorer.parse(scorers, InstanceView::effectiveLoad), ties);
  }

  private static InstanceView view(int id, int queueDepth, int batchSize, int inFlight) {
    var signals = EngineSignals.of(queueDepth, batchSize, 0);
    return InstanceView.of(id, signals, Load.inFlight(inFlight), CachedBlocks.NONE);
  }

  private static InstanceView hitting(int id, double hitRate) {
    var signals = new EngineSignals(0, 0, 0, hitRate, EngineSignals.UNKNOWN, EngineSignals.UNKNOWN);
    return new InstanceView(
        id, Role.BOTH, "any", signals, Load.of(0, 0, 0), CachedBlocks.NONE, 1000);
  }

  private static InstanceView used(int id, double utilisation) {
    return InstanceView.of(id, EngineSignals.of(0, 0, utilisation), Load.NONE, CachedBlocks.NONE);
  }

  private static InstanceView cached(int id, int blocks) {
    return InstanceView.of(id, EngineSignals.IDLE, Load.NONE, CachedBlocks.onDevice(blocks));
  }
}
