package dev.kvasir.router.placement;

import static dev.kvasir.router.view.Views.SETTINGS;
import static dev.kvasir.router.view.Views.decoding;
import static dev.kvasir.router.view.Views.instance;
import static dev.kvasir.router.view.Views.prefilling;
import static dev.kvasir.router.view.Views.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import org.junit.jupiter.api.Test;

/** The decision tables of the simple rules, and what follows from them. */
class SimplePlacementTest {
  private static final ThresholdPlacement HEURISTIC = new ThresholdPlacement(SETTINGS);
  private static final HalfCostPlacement COST = new HalfCostPlacement(SETTINGS);

  @Test
  void theFourReasonsOfTheSeedAreSpelledAsThere() {
    assertThat(Reason.P_IDLE_D_BUSY.label()).isEqualTo("p_idle_d_busy");
    assertThat(Reason.P_OVERLOADED.label()).isEqualTo("p_overloaded");
    assertThat(Reason.D_IDLE.label()).isEqualTo("d_idle");
    assertThat(Reason.BELOW_THRESHOLD.label()).isEqualTo("below_threshold");
  }

  @Test
  void theFourClassesOfTheSeedAreSpelledAsThere() {
    var colocated = COST.place(query(8_000, instance(0, Load.NONE), instance(1, Load.NONE)));
    var placed = always(query(8_000, instance(0, Load.NONE), instance(1, Load.NONE)));
    assertThat(RouteClass.WARM.label(colocated)).isEqualTo("WARM");
    assertThat(RouteClass.MEDIUM.label(colocated)).isEqualTo("MEDIUM");
    assertThat(RouteClass.HEAVY.label(colocated)).isEqualTo("HEAVY_COLO");
    assertThat(RouteClass.HEAVY.label(placed)).isEqualTo("HEAVY_P2P");
  }

  @Test
  void warmAndMediumRequestsAreAlwaysColocated() {
    for (var name : PlacementPolicy.NAMES) {
      var policy = PlacementPolicy.named(name, SETTINGS);
      for (int prompt : new int[] {1, 511, 512, 2_047}) {
        var query = query(prompt, instance(0, decoding(8, 90_000)), instance(1, Load.NONE));
        var reason = name.equals("never") ? Reason.DISABLED : Reason.BELOW_THRESHOLD;
        assertThat(policy.place(query)).isInstanceOf(Colocate.class);
        assertThat(policy.place(query).reason()).as(name).isEqualTo(reason);
      }
    }
  }

  @Test
  void heuristicColocatesWhenTheOtherHasAsMuchToDo() {
    assertThat(heuristic(decoding(1, 500), prefilling(500))).isEqualTo(Reason.P_NOT_LESS_LOADED);
    assertThat(heuristic(decoding(1, 500), prefilling(600))).isEqualTo(Reason.P_NOT_LESS_LOADED);
    assertThat(heuristic(Load.NONE, Load.NONE)).isEqualTo(Reason.P_NOT_LESS_LOADED);
  }

  @Test
  void heuristicColocatesWhenTheOtherIsFarAboveTheAverage() {
    var decode = instance(0, decoding(1, 100));
    var prefill = instance(1, prefilling(72));
    var idle = new InstanceView[] {instance(2, Load.NONE), instance(3, Load.NONE)};
    var query = query(8_000, decode, prefill, idle[0], idle[1]);
    assertThat(HEURISTIC.judge(query, prefill)).isEqualTo(Reason.P_OVERLOADED);
  }

  @Test
  void heuristicTestsTheAverageStrictly() {
    // The mean of 100, 60, 0 and 0 is 40, and one and a half times that is 60.
    var prefill = instance(1, prefilling(60));
    var query =
        query(
            8_000,
            instance(0, decoding(1, 100)),
            prefill,
            instance(2, Load.NONE),
            instance(3, Load.NONE));
    assertThat(HEURISTIC.judge(query, prefill)).isEqualTo(Reason.P_IDLE_D_BUSY);
  }

  @Test
  void heuristicOffloadsFromAnInstanceThatDecodesToOneWithLessToDo() {
    var placed =
        HEURISTIC.place(query(8_000, instance(0, decoding(1, 500)), instance(1, Load.NONE)));
    assertThat(placed).isInstanceOf(Offload.class);
    assertThat(placed.reason()).isEqualTo(Reason.P_IDLE_D_BUSY);
  }

  @Test
  void heuristicColocatesOnAnInstanceThatPrefillsButDoesNotDecode() {
    assertThat(heuristic(prefilling(500), Load.NONE)).isEqualTo(Reason.D_IDLE);
  }

  @Test
  void costNeedsMoreThanTwiceTheQueueAndASecondOfPrefill() {
    // N > 2 P + T, where T is 10,000 tokens a second.
    assertThat(cost(10_000, 0)).isEqualTo(Reason.COST_EXCEEDS_BENEFIT);
    assertThat(cost(10_001, 0)).isEqualTo(Reason.P_IDLE_D_BUSY);
    assertThat(cost(20_000, 5_000)).isEqualTo(Reason.COST_EXCEEDS_BENEFIT);
    assertThat(cost(20_001, 5_000)).isEqualTo(Reason.P_IDLE_D_BUSY);
  }

  @Test
  void costIsAsTheInequalitySaysForAnyLoad() {
    Seeds.each(
        200,
        random -> {
          int prompt = RouteClass.Limits.DEFAULT.heavyTokensMin() + random.nextInt(60_000);
          int ongoing = random.nextInt(30_000);
          // Where both sides are equal, the rounding of the division may go either way.
          if (prompt == 2 * ongoing + 10_000) return;
          boolean offloads = prompt > 2 * ongoing + 10_000;
          assertThat(SimpleRule.offloads(cost(prompt, ongoing))).isEqualTo(offloads);
        });
  }

  @Test
  void costColocatesOnAnInstanceThatDoesNotDecode() {
    var query = query(60_000, instance(0, prefilling(90_000)), instance(1, Load.NONE));
    assertThat(COST.place(query).reason()).isEqualTo(Reason.D_IDLE);
  }

  @Test
  void alwaysOffloadsEveryHeavyRequestToTheLeastBusyOther() {
    var query =
        query(
            2_048,
            instance(0, Load.NONE),
            instance(1, prefilling(900)),
            instance(2, prefilling(800)));
    var placed = always(query);
    assertThat(placed).isEqualTo(new Offload(2, 0, Reason.FORCED, placed.predicted()));
  }

  @Test
  void nobodyElseMeansColocatingForEveryPolicy() {
    for (var name : PlacementPolicy.NAMES) {
      var placed =
          PlacementPolicy.named(name, SETTINGS).place(query(60_000, instance(7, Load.NONE)));
      assertThat(placed).isInstanceOf(Colocate.class);
      assertThat(placed.decode()).isEqualTo(7);
    }
  }

  /** Defect 1: with the least busy other one, or with three instances, the second rule is dead. */
  @Test
  void overloadRuleNeverAppliesToTheLeastBusyNorAmongThree() {
    Seeds.each(
        500,
        random -> {
          int count = 2 + random.nextInt(7);
          var views = new InstanceView[count];
          for (int id = 0; id < count; id++) {
            views[id] = instance(id, Load.of(random.nextInt(100), 1, random.nextInt(100)));
          }
          var query = query(8_000, views);
          assertThat(HEURISTIC.place(query).reason()).isNotEqualTo(Reason.P_OVERLOADED);
          if (count > 3) return;
          for (int other = 1; other < count; other++) {
            assertThat(HEURISTIC.judge(query, views[other])).isNotEqualTo(Reason.P_OVERLOADED);
          }
        });
  }

  /** Defect 2: an idle D leaves at the first rule, so d_idle means a D that prefills. */
  @Test
  void heuristicNeverSaysOfAnIdleInstanceThatItIsIdle() {
    assertThat(heuristic(Load.NONE, prefilling(10))).isEqualTo(Reason.P_NOT_LESS_LOADED);
    assertThat(heuristic(prefilling(20), prefilling(10))).isEqualTo(Reason.D_IDLE);
  }

  /** A defect of the rule: most heavy requests are offloaded at low load. */
  @Test
  void bothFunctionsColocateWhereNobodyHasAnythingToDo() {
    var idle = query(60_000, instance(0, Load.NONE), instance(1, Load.NONE));
    assertThat(HEURISTIC.place(idle)).isInstanceOf(Colocate.class);
    assertThat(COST.place(idle)).isInstanceOf(Colocate.class);
  }

  /** Defect 4. */
  @Test
  void theTwoFunctionsDisagreeBothWays() {
    var shorter = query(12_000, instance(0, Load.of(0, 1, 10_000)), instance(1, prefilling(9_000)));
    assertThat(HEURISTIC.place(shorter)).isInstanceOf(Offload.class);
    assertThat(COST.place(shorter)).isInstanceOf(Colocate.class);
    var longer = query(60_000, instance(0, decoding(1, 500)), instance(1, prefilling(600)));
    assertThat(HEURISTIC.place(longer)).isInstanceOf(Colocate.class);
    assertThat(COST.place(longer)).isInstanceOf(Offload.class);
  }

  @Test
  void unknownNamesAreAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> PlacementPolicy.named("sometimes", SETTINGS))
        .hasMessage("no placement \"sometimes\", use one of " + PlacementPolicy.NAMES);
  }

  private static Reason heuristic(Load decode, Load prefill) {
    return HEURISTIC.place(query(8_000, instance(0, decode), instance(1, prefill))).reason();
  }

  private static Reason cost(int promptTokens, long ongoing) {
    var decode = instance(0, decoding(1, 1));
    return COST.place(query(promptTokens, decode, instance(1, prefilling(ongoing)))).reason();
  }

  private static PrefillPlacement always(PlacementQuery query) {
    return new AlwaysOffload(SETTINGS).place(query);
  }
}
