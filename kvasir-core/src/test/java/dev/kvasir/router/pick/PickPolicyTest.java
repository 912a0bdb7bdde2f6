package dev.kvasir.router.pick;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Seeds;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.Views;
import java.util.List;
import org.junit.jupiter.api.Test;

class PickPolicyTest {
  @Test
  void everyPolicyPicksOneOfThoseItWasShown() {
    Seeds.each(
        50,
        random -> {
          for (var name : PickPolicy.NAMES) {
            var policy = PickPolicy.named(name, WeightedPick.SCORERS_DEFAULT, Ties.random(random));
            for (int step = 0; step < 50; step++) {
              var views = new InstanceView[1 + random.nextInt(9)];
              int first = random.nextInt(100);
              for (int i = 0; i < views.length; i++) {
                views[i] =
                    InstanceView.of(
                        first + i,
                        EngineSignals.of(random.nextInt(3), random.nextInt(3), random.nextDouble()),
                        Load.of(random.nextInt(900), random.nextInt(3), random.nextInt(900)),
                        CachedBlocks.onDevice(random.nextInt(4)));
              }
              var request = RouteRequest.of("", 100, Views.hashes(random.nextInt(9), 4));
              assertThat(views).contains(policy.pick(request, Views.cluster(views)));
            }
          }
        });
  }

  @Test
  void roundRobinTakesThemInTurn() {
    var policy = new RoundRobinPick();
    var cluster = Views.cluster(idle(3), idle(5), idle(9));
    assertThat(
            List.of(
                policy.pick(Views.request(1), cluster).id(),
                policy.pick(Views.request(1), cluster).id(),
                policy.pick(Views.request(1), cluster).id(),
                policy.pick(Views.request(1), cluster).id()))
        .containsExactly(3, 5, 9, 3);
  }

  @Test
  void longestPrefixWinsWhateverTheLoad() {
    var busy = Views.instance(1, Load.of(90_000, 9, 90_000), 64);
    assertThat(pick("longest-prefix", idle(0), busy)).isEqualTo(1);
    assertThat(pick("longest-prefix", idle(0), idle(1))).isZero();
  }

  @Test
  void busiestIsTheFirstWithTheMostToDo() {
    var busy = InstanceView.of(1, EngineSignals.IDLE, Load.inFlight(3), CachedBlocks.NONE);
    var alsoBusy = foreign(2, 3);
    assertThat(pick("always-busiest", idle(0), busy, alsoBusy)).isEqualTo(1);
  }

  @Test
  void whoTellsNothingIsTakenForAverageAndNotForIdle() {
    var silent = InstanceView.of(0, EngineSignals.NONE, Load.NONE, CachedBlocks.NONE);
    var short1 = InstanceView.of(1, EngineSignals.of(1, 2, 0.2), Load.NONE, CachedBlocks.NONE);
    var long2 = InstanceView.of(2, EngineSignals.of(5, 4, 0.6), Load.NONE, CachedBlocks.NONE);
    assertThat(pick("weighted", silent, short1, long2)).isEqualTo(1);
    assertThat(pick("weighted", silent, long2)).isZero();
    assertThat(Views.cluster(silent, short1, long2).instances().getFirst().signals())
        .isEqualTo(EngineSignals.of(3, 3, 0.4));
  }

  @Test
  void whoTellsNothingHasTheAverageOfWhatOthersSent() {
    var silent = InstanceView.of(0, EngineSignals.NONE, Load.inFlight(1), CachedBlocks.NONE);
    assertThat(pick("least-loaded", silent, foreign(1, 2), foreign(2, 6))).isEqualTo(1);
    assertThat(pick("least-loaded", silent, foreign(1, 6), foreign(2, 6))).isEqualTo(1);
    assertThat(pick("least-loaded", idle(0), foreign(1, 1))).isZero();
  }

  private static InstanceView foreign(int id, int requests) {
    var load = Load.NONE.withForeign(requests);
    return InstanceView.of(id, EngineSignals.of(0, requests, 0), load, CachedBlocks.NONE);
  }

  @Test
  void whoTellsNothingHasAtLeastWhatWasSentThere() {
    var sent = new Load(9, 0, 5, 500, 500, 4, 900, 0, 0, 0, Double.POSITIVE_INFINITY);
    var silent = InstanceView.of(0, EngineSignals.NONE, sent, CachedBlocks.NONE);
    var other = InstanceView.of(1, EngineSignals.of(1, 2, 0.2), Load.NONE, CachedBlocks.NONE);
    assertThat(Views.cluster(silent, other).instances().getFirst().signals())
        .isEqualTo(EngineSignals.of(5, 4, 0.2));
    assertThat(Views.cluster(silent).instances().getFirst().signals())
        .isEqualTo(EngineSignals.of(5, 4, 0));
  }

  @Test
  void equalsAreTakenInTurn() {
    var policy = PickPolicy.named("least-loaded", "", Ties.inTurn());
    var picks = new int[2];
    for (int i = 0; i < 20; i++) {
      picks[policy.pick(Views.request(16), Views.cluster(idle(0), idle(1))).id()]++;
    }
    assertThat(picks).containsExactly(10, 10);
  }

  @Test
  void balancedWeighsWhatIsCachedAgainstWhatWaits() {
    var holder = Views.instance(0, Views.prefilling(1_900), 800);
    var other = Views.instance(1, Load.NONE);
    assertThat(pick("balanced", holder, other)).isZero();
    var busier = Views.instance(0, Views.prefilling(2_100), 800);
    assertThat(pick("balanced", busier, other)).isEqualTo(1);
  }

  @Test
  void balancedLeavesAHolderThatHasNoMemory() {
    var roomy = reporting(0, 200, 0.5, 50);
    var full = reporting(0, 10, 0.99, 50);
    var other = reporting(1, 200, 0.5, 0);
    assertThat(pick("balanced", roomy, other)).isZero();
    assertThat(pick("balanced", full, other)).isEqualTo(1);
    var unsaid = reporting(0, EngineSignals.UNKNOWN, 0.99, 50);
    assertThat(pick("balanced", unsaid, other)).isEqualTo(1);
    assertThat(pick("balanced", reporting(0, EngineSignals.UNKNOWN, 0.85, 50), other)).isZero();
  }

  @Test
  void balancedCountsWhatWaitsForMemoryBeforeIt() {
    var free = reporting(0, 120, 0.5, 0);
    var load = Load.of(1_000, 0, 0);
    var waiting = InstanceView.of(1, free.signals(), load, CachedBlocks.onDevice(70));
    var cluster = Views.cluster(free, waiting);
    var request = Views.request(1_600);
    assertThat(cluster.shortTokens(request, cluster.instances().get(0))).isZero();
    assertThat(cluster.shortTokens(request, cluster.instances().get(1))).isZero();
    var longer = Views.request(3_200);
    assertThat(cluster.shortTokens(longer, cluster.instances().get(0))).isEqualTo(3_200 - 120 * 16);
  }

  @Test
  void balancedCountsContextsAndTiersByTheirPrices() {
    var far = InstanceView.of(0, EngineSignals.IDLE, Load.of(0, 4, 400_000), CachedBlocks.NONE);
    var near = InstanceView.of(1, EngineSignals.IDLE, Load.of(0, 4, 4_000), CachedBlocks.NONE);
    var prices = new BalancedPick.Prices(0, 0, 32, 0.01, 4);
    var policy = new BalancedPick(prices, Ties.first());
    assertThat(policy.pick(Views.request(1_600), Views.cluster(far, near)).id()).isEqualTo(1);
    var disk = InstanceView.of(0, EngineSignals.IDLE, Load.NONE, lying(Tier.DISK));
    var host = InstanceView.of(1, EngineSignals.IDLE, Load.NONE, lying(Tier.HOST));
    var none = InstanceView.of(2, EngineSignals.IDLE, Load.NONE, CachedBlocks.NONE);
    assertThat(policy.pick(Views.request(1_600), Views.cluster(none, disk, host)).id()).isOne();
    assertThat(policy.pick(Views.request(1_600), Views.cluster(none, disk)).id()).isZero();
  }

  /** All of the first 1,600 tokens, on that tier. */
  private static CachedBlocks lying(Tier tier) {
    var counts = new int[Tier.values().length];
    counts[tier.level()] = 90;
    return CachedBlocks.of(counts);
  }

  private static InstanceView reporting(int id, int free, double used, int cached) {
    var signals = new EngineSignals(0, 4, used, EngineSignals.UNKNOWN, free, EngineSignals.UNKNOWN);
    return InstanceView.of(id, signals, Load.NONE, CachedBlocks.onDevice(cached));
  }

  @Test
  void balancedSaysByHowMuchTheBestIsAhead() {
    var policy = new BalancedPick(new BalancedPick.Prices(0, 0, 0, 0, 0), Ties.first());
    var request = Views.request(1_600);
    var cluster = Views.cluster(idle(0), Views.instance(1, Views.prefilling(500)));
    assertThat(policy.leadSeconds(request, cluster)).isCloseTo(0.05, within(1e-9));
    assertThat(policy.leadSeconds(request, Views.cluster(idle(0), idle(1)))).isZero();
    assertThat(policy.leadSeconds(request, Views.cluster(idle(0)))).isInfinite();
  }

  @Test
  void balancedPrefersTheFasterOfTwoAlike() {
    var fast =
        new InstanceView(
            1, Role.BOTH, "any", EngineSignals.IDLE, Load.NONE, CachedBlocks.NONE, 20_000);
    assertThat(pick("balanced", idle(0), fast)).isEqualTo(1);
  }

  @Test
  void balancedEvensOutWhatIsNeverBusyWhenPicked() {
    var used = new Load(0, 0, 0, 0, 0, 0, 0, 0, 10_000, 0, Double.POSITIVE_INFINITY);
    assertThat(pick("balanced", Views.instance(0, used), idle(1))).isEqualTo(1);
  }

  @Test
  void unknownNamesAreAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> PickPolicy.named("random", "", Ties.first()))
        .hasMessage("no routing \"random\", use one of " + PickPolicy.NAMES);
  }

  private static int pick(String name, InstanceView... views) {
    var policy = PickPolicy.named(name, WeightedPick.SCORERS_DEFAULT, Ties.first());
    return policy.pick(Views.request(1_600), Views.cluster(views)).id();
  }

  private static InstanceView idle(int id) {
    return Views.instance(id, Load.NONE);
  }
}
