package dev.kvasir.router.placement;

import static dev.kvasir.router.view.Views.SETTINGS;
import static dev.kvasir.router.view.Views.decoding;
import static dev.kvasir.router.view.Views.instance;
import static dev.kvasir.router.view.Views.prefilling;
import static dev.kvasir.router.view.Views.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Seeds;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.SloTargets;
import dev.kvasir.router.view.Views;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests what the prediction does where the simple rules go wrong. */
class PredictivePlacementTest {
  private static final PredictivePlacement PREDICTIVE = new PredictivePlacement(SETTINGS);
  private static final HalfCostPlacement COST = new HalfCostPlacement(SETTINGS);
  private static final ThresholdPlacement HEURISTIC = new ThresholdPlacement(SETTINGS);

  /** Without what half-cost leaves out, the prediction is the cost function of half-cost. */
  @Test
  void withoutWhatTheSeedLeavesOutItIsTheSeedsCostFunction() {
    Seeds.each(
        500,
        random -> {
          int prompt = 2_048 + random.nextInt(60_000);
          var decode = instance(0, decoding(4 + random.nextInt(60), 1 + random.nextInt(9_000)));
          int ongoing = random.nextInt(40_000);
          if (prompt == 2 * ongoing + 10_000) return;
          var query = query(prompt, decode, instance(1, prefilling(ongoing)));
          assertThat(PREDICTIVE.place(query) instanceof Offload)
              .isEqualTo(COST.place(query) instanceof Offload);
        });
  }

  @Test
  void anIdleInstanceIsNamedAsSuch() {
    var idle = query(60_000, instance(0, Load.NONE), instance(1, Load.NONE));
    assertThat(PREDICTIVE.place(idle).reason()).isEqualTo(Reason.D_IDLE);
  }

  /** Defect 5. */
  @Test
  void prefixThatOnlyTheDecodingInstanceHoldsKeepsTheRequestThere() {
    var decode = instance(0, decoding(8, 9_000), 40_000);
    var query = query(60_000, decode, instance(1, Load.NONE));
    assertThat(COST.place(query)).isInstanceOf(Offload.class);
    var placed = PREDICTIVE.place(query);
    assertThat(placed).isInstanceOf(Colocate.class);
    assertThat(placed.predicted().colocateSeconds()).isCloseTo(2.0, within(1e-9));
    assertThat(placed.predicted().offloadSeconds()).isCloseTo(6.5, within(1e-9));
  }

  /** Defect 6. */
  @Test
  void decodesOnTheOtherInstanceHaveTheSamePrice() {
    var query = query(30_000, instance(0, decoding(8, 9_000)), instance(1, decoding(8, 900)));
    assertThat(COST.place(query)).isInstanceOf(Offload.class);
    assertThat(HEURISTIC.place(query)).isInstanceOf(Offload.class);
    assertThat(PREDICTIVE.place(query).reason()).isEqualTo(Reason.COST_EXCEEDS_BENEFIT);
  }

  /** Defect 7. */
  @Test
  void backlogOfTheDecodingInstanceIsEscaped() {
    var query = query(8_000, instance(0, prefilling(50_000)), instance(1, Load.NONE));
    assertThat(COST.place(query)).isInstanceOf(Colocate.class);
    assertThat(HEURISTIC.place(query)).isInstanceOf(Colocate.class);
    assertThat(PREDICTIVE.place(query)).isInstanceOf(Offload.class);
    assertThat(PREDICTIVE.place(query).reason()).isEqualTo(Reason.P_IDLE_D_BUSY);
  }

  /** Defect 7, the other way round: its last token is computed where it decodes, in its turn. */
  @Test
  void whatIsHandedOverStillWaitsForItsTurnWhereItDecodes() {
    var query = query(8_000, instance(0, prefilling(50_000)), instance(1, Load.NONE));
    assertThat(PREDICTIVE.place(query).predicted().colocateSeconds()).isEqualTo(5.8);
    assertThat(PREDICTIVE.place(query).predicted().offloadSeconds()).isEqualTo(5.0);
  }

  @Test
  void sessionLeavesItsHomeAsSoonAsThatPays() {
    var busy = query(8_000, instance(0, prefilling(5_000)), free());
    assertThat(new NeverOffload(SETTINGS).staysHome(busy, StickyLimits.DEFAULT)).isTrue();
    assertThat(PREDICTIVE.staysHome(busy, StickyLimits.DEFAULT)).isFalse();
    assertThat(new SloPlacement(SETTINGS).staysHome(busy, StickyLimits.DEFAULT)).isFalse();
    var alike = query(8_000, instance(0, prefilling(5_000)), instance(1, prefilling(5_000)));
    assertThat(PREDICTIVE.staysHome(alike, StickyLimits.DEFAULT)).isTrue();
  }

  @Test
  void workThatOnlyTheHomeSparesKeepsASessionThereTwiceAsLong() {
    // Elsewhere 6,000 tokens more are to be computed: 0.6 s, which count for 1.2 s of the queue.
    var home = instance(0, prefilling(11_900), 6_000);
    assertThat(PREDICTIVE.staysHome(query(8_000, home, free()), StickyLimits.DEFAULT)).isTrue();
    var busier = instance(0, prefilling(12_100), 6_000);
    assertThat(PREDICTIVE.staysHome(query(8_000, busier, free()), StickyLimits.DEFAULT)).isFalse();
  }

  /** Defect 8. */
  @Test
  void oneDisturbedDecodeWeighsLessThanMany() {
    assertThat(PREDICTIVE.place(query(15_000, instance(0, decoding(1, 900)), free())))
        .isInstanceOf(Colocate.class);
    assertThat(PREDICTIVE.place(query(15_000, instance(0, decoding(4, 900)), free())))
        .isInstanceOf(Offload.class);
    assertThat(PREDICTIVE.place(query(15_000, instance(0, decoding(100, 900)), free())))
        .isInstanceOf(Offload.class);
  }

  /** Defect 9. */
  @Test
  void contextOfDecodesIsNoQueue() {
    var query = query(30_000, instance(0, decoding(8, 200_000)), instance(1, decoding(1, 90_000)));
    assertThat(COST.place(query)).isInstanceOf(Colocate.class);
    assertThat(PREDICTIVE.place(query).reason()).isEqualTo(Reason.P_LIGHTER_D_BUSY);
  }

  /** Defect 10. */
  @Test
  void tokensAtTheEndOfALongPromptAreMoreWork() {
    var estimates = Estimates.DEFAULT.withParity(6_900);
    double ratio = (double) estimates.work(4_000, 64_000) / estimates.work(4_000, 4_000);
    assertThat(ratio).isCloseTo(7.7, within(0.05));
  }

  /** Defect 12: what happens when the other has no room, or enough of this already. */
  @Test
  void theOtherMustHaveRoomAndNotPrefillForTooManyOthers() {
    var decode = instance(0, prefilling(50_000));
    var full = with(instance(1, Load.NONE), new EngineSignals(0, 0, 1, 0, 499, -1));
    assertThat(PREDICTIVE.place(query(8_000, decode, full)).reason())
        .isEqualTo(Reason.P_NO_KV_SPACE);
    var roomy = with(instance(1, Load.NONE), new EngineSignals(0, 0, 1, 0, 500, -1));
    assertThat(PREDICTIVE.place(query(8_000, decode, roomy))).isInstanceOf(Offload.class);
    var placing = new Load(1, 0, 1, 10, 10, 0, 0, 1, 0, 0, Double.POSITIVE_INFINITY);
    assertThat(PREDICTIVE.place(query(8_000, decode, instance(1, placing))).reason())
        .isEqualTo(Reason.OFFLOAD_CAP);
    assertThat(PREDICTIVE.place(query(8_000, decode)).reason()).isEqualTo(Reason.P_UNAVAILABLE);
  }

  @Test
  void onlyInstancesWithTheSameConnectorHandOver() {
    var decode = instance(0, prefilling(50_000));
    var other = connector(instance(1, Load.NONE), "nixl");
    var none = connector(instance(2, Load.NONE), "");
    assertThat(PREDICTIVE.place(query(8_000, decode, other, none)).reason())
        .isEqualTo(Reason.P_UNAVAILABLE);
    var alike = connector(instance(0, prefilling(50_000)), "nixl");
    assertThat(PREDICTIVE.place(query(8_000, alike, none, other)))
        .isEqualTo(
            new Offload(
                1,
                0,
                Reason.P_IDLE_D_BUSY,
                Prediction.of(query(8_000, alike, other), other, SETTINGS)));
  }

  @Test
  void busyOthersAreNamedByHowBusyTheyAre() {
    var decode = instance(0, decoding(4, 1_000));
    assertThat(PREDICTIVE.place(query(4_000, decode, instance(1, prefilling(1_000)))).reason())
        .isEqualTo(Reason.P_NOT_LESS_LOADED);
    assertThat(PREDICTIVE.place(query(4_000, decode, instance(1, prefilling(999)))).reason())
        .isEqualTo(Reason.COST_EXCEEDS_BENEFIT);
  }

  @Test
  void theGainMustExceedTheMargin() {
    // 15,000 tokens disturb four decodes by 0.75 s, which is 0.25 s more than the transfer takes.
    var query = query(15_000, instance(0, decoding(4, 900)), free());
    assertThat(margin(249).place(query)).isInstanceOf(Offload.class);
    assertThat(margin(251).place(query)).isInstanceOf(Colocate.class);
  }

  /** A whole request could move there, without a hand-over. */
  @Test
  void anInstanceThatDecodesTooMustBeBetterByAShareOfTheTime() {
    var decode = instance(0, decoding(4, 900));
    var query = query(30_000, decode, free());
    assertThat(PREDICTIVE.place(query)).isInstanceOf(Offload.class);
    var usual = new PredictivePlacement(PlacementSettings.DEFAULT);
    assertThat(usual.place(query)).isInstanceOf(Colocate.class);
    var dedicated =
        new InstanceView(
            1, Role.PREFILL, "any", EngineSignals.IDLE, Load.NONE, CachedBlocks.NONE, 10_000);
    // Beside one that only prefills, it counts how busy those that decode are.
    assertThat(usual.place(query(30_000, decode, dedicated))).isInstanceOf(Colocate.class);
    var load = new Load(4, 0, 0, 0, 0, 4, 900, 0, 0, 9_000, Double.POSITIVE_INFINITY);
    var busy = query(30_000, instance(0, load), dedicated);
    assertThat(usual.place(busy)).isInstanceOf(Offload.class);
    assertThat(usual.place(busy).predicted().offloadHarmSeconds()).isZero();
  }

  @Test
  void theMoreInstancesTheBusierTheyMayBe() {
    assertThat(new Crowding(2, 0).price(9)).isZero();
    assertThat(new Crowding(2, 0.5).price(0)).isBetween(1.8, 2.0);
    assertThat(new Crowding(8, 0.5).price(0)).isBetween(0.15, 0.25);
    assertThat(new Crowding(8, 0.9).price(0)).isGreaterThan(new Crowding(2, 0.5).price(0));
    assertThat(new Crowding(8, 0.5).price(10)).isGreaterThan(new Crowding(8, 0.5).price(0));
  }

  @Test
  void onAnInstanceThatOnlyDecodesEachStreamCounts() {
    var streams = decoding(40, 900);
    var only =
        new InstanceView(
            0, Role.DECODE, "any", EngineSignals.IDLE, streams, CachedBlocks.NONE, 10_000);
    assertThat(SETTINGS.harm(only)).isEqualTo(40 * SETTINGS.harm(instance(1, streams)));
  }

  @Test
  void cachedBlocksFurtherDownSpareLess() {
    var cluster = Views.cluster(free());
    var request = Views.request(1_600);
    long onDevice = cluster.work(request, holding(CachedBlocks.of(50, 0, 0, 0, 0)));
    long onHost = cluster.work(request, holding(CachedBlocks.of(0, 50, 0, 0, 0)));
    long onDisk = cluster.work(request, holding(CachedBlocks.of(0, 0, 50, 0, 0)));
    assertThat(onDevice).isEqualTo(800);
    assertThat(onHost).isEqualTo(1_000);
    assertThat(onDisk).isEqualTo(1_400);
  }

  @Test
  void promptThatIsWhollyCachedStillComputesAToken() {
    var cluster = Views.cluster(free());
    var held = holding(CachedBlocks.of(10, 0, 0, 0, 0));
    assertThat(cluster.uncachedTokens(Views.request(160), held)).isEqualTo(1);
    assertThat(cluster.uncachedTokens(Views.request(0), held)).isZero();
  }

  @Test
  void sloModeStaysHomeWhileEverybodyMeetsHisTarget() {
    var slo = new SloPlacement(SETTINGS);
    // 16,000 tokens are due after 2 s and take 1.6 s.
    var relaxed = slack(prefilling(0), 1.7);
    assertThat(slo.place(query(16_000, instance(0, relaxed), free())).reason())
        .isEqualTo(Reason.MEETS_SLO);
  }

  @Test
  void sloModeGoesWhereNoStreamIsLate() {
    var slo = new SloPlacement(SETTINGS);
    // 8,000 tokens take 0.8 s, elsewhere 1.3 s, and are due after 1.5 s.
    var pressed = query(8_000, instance(0, slack(prefilling(0), 0.7)), free());
    assertThat(slo.place(pressed)).isInstanceOf(Offload.class);
    assertThat(slo.place(pressed).reason()).isEqualTo(Reason.OFFLOAD_MEETS_SLO);
    // 16,000 tokens take 1.6 s, elsewhere 2.1 s, and are due after 2 s.
    var longer = query(16_000, instance(0, slack(prefilling(0), 1.5)), free());
    assertThat(slo.place(longer).reason()).isNotEqualTo(Reason.OFFLOAD_MEETS_SLO);
  }

  @Test
  void sloModeLeavesPressedStreamsElsewhereAlone() {
    var slo = new SloPlacement(SETTINGS);
    var pressed = instance(0, slack(prefilling(0), 0.7));
    var alsoPressed = instance(1, slack(prefilling(0), 0.7));
    var relaxed = instance(2, slack(prefilling(1_000), 0.9));
    assertThat(slo.place(query(8_000, pressed, alsoPressed, relaxed)))
        .isInstanceOfSatisfying(Offload.class, placed -> assertThat(placed.prefill()).isEqualTo(2));
  }

  @Test
  void sloModePredictsWhereNobodyMeetsTheTarget() {
    var slo = new SloPlacement(SETTINGS);
    var query = query(60_000, instance(0, prefilling(90_000)), instance(1, prefilling(50_000)));
    assertThat(slo.place(query)).isEqualTo(PREDICTIVE.place(query));
  }

  private static InstanceView free() {
    return instance(1, Load.NONE);
  }

  private static PredictivePlacement margin(int millis) {
    return new PredictivePlacement(
        new PlacementSettings(
            0.5, 4, Duration.ofMillis(millis), 0, 1.5, 1, 0, 10_000, SloTargets.DEFAULT));
  }

  private static Load slack(Load load, double seconds) {
    return new Load(1, 0, 0, load.prefillTokens(), load.prefillWork(), 1, 100, 0, 0, 0, seconds);
  }

  private static InstanceView holding(CachedBlocks cached) {
    return new InstanceView(3, Role.BOTH, "any", EngineSignals.IDLE, Load.NONE, cached, 10_000);
  }

  private static InstanceView with(InstanceView view, EngineSignals signals) {
    return new InstanceView(
        view.id(), view.role(), view.connector(), signals, view.load(), view.cached(), 10_000);
  }

  private static InstanceView connector(InstanceView view, String connector) {
    return new InstanceView(
        view.id(), view.role(), connector, view.signals(), view.load(), view.cached(), 10_000);
  }
}
