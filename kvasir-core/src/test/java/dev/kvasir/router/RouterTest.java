package dev.kvasir.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.placement.RouteClass;
import dev.kvasir.router.placement.StickyLimits;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.Views;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RouterTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final Router router = router("balanced", "predictive");

  @Test
  void choosingAndBookingAreOneStep() {
    for (int i = 0; i < 3; i++) router.add(Instance.of("worker-" + i));
    // Nothing happens in between, and yet each sees what was booked before it.
    var decodes =
        List.of(open("", 4_000, 0), open("", 4_000, 1_000), open("", 4_000, 2_000)).stream()
            .map(route -> route.placement().decode())
            .toList();
    assertThat(decodes).containsExactly(0, 1, 2);
  }

  @Test
  void nobodyToTakeARequestIsAnAnswer() {
    assertThat(router.open(Views.request(10))).isEmpty();
    int id = router.add(Instance.of("worker"));
    router.become(id, Availability.DRAINING);
    assertThat(router.open(Views.request(10))).isEmpty();
    router.become(id, Availability.DOWN);
    assertThat(router.open(Views.request(10))).isEmpty();
    router.become(id, Availability.READY);
    assertThat(router.open(Views.request(10).avoiding(id))).isEmpty();
    assertThat(router.open(Views.request(10))).isPresent();
  }

  @Test
  void aBlindPolicyTakesThoseInTurnThatCanTakeTheRequest() {
    var inTurn = router("round-robin", "never");
    for (int i = 0; i < 4; i++) inTurn.add(Instance.of("worker-" + i));
    inTurn.become(2, Availability.DRAINING);
    var decodes = new ArrayList<Integer>();
    for (int i = 0; i < 4; i++) {
      decodes.add(inTurn.open(Views.request(10)).orElseThrow().placement().decode());
    }
    var other = inTurn.open(Views.request(10).avoiding(0)).orElseThrow();
    assertThat(decodes).containsExactly(0, 1, 3, 0);
    assertThat(other.placement().decode()).isEqualTo(1);
    assertThat(inTurn.load(0).inFlight()).isEqualTo(2);
  }

  @Test
  void closingTwiceCountsOnce() {
    int id = router.add(Instance.of("worker"));
    var first = open("", 100, 0);
    var second = open("", 100, 0);
    first.close();
    first.close();
    assertThat(router.load(id).inFlight()).isEqualTo(1);
    second.close();
    assertThat(router.load(id).inFlight()).isZero();
  }

  @Test
  void reportAfterTheEndIsRefused() {
    router.add(Instance.of("worker"));
    var route = open("", 100, 0);
    route.close();
    assertThatThrownBy(route::firstToken)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("first token after the end of route 0");
    assertThatThrownBy(() -> route.emitted(3)).hasMessageStartingWith("3 tokens after the end");
  }

  @Test
  void sessionStaysHome() {
    for (int i = 0; i < 4; i++) router.add(Instance.of("worker-" + i));
    open("others", 800, 100).close();
    var first = open("mine", 800, 0);
    int home = first.placement().decode();
    first.close();
    loop.runFor(Duration.ofMinutes(29));
    assertThat(open("mine", 900, 500).placement().decode()).isEqualTo(home);
    assertThat(router.sessions()).isEqualTo(2);
  }

  @Test
  void sessionThatWasAwayTooLongIsPickedAnew() {
    for (int i = 0; i < 2; i++) router.add(Instance.of("worker-" + i));
    var busy = open("mine", 8_000, 0);
    loop.runFor(Duration.ofMinutes(31));
    assertThat(open("mine", 100, 500).placement().decode()).isNotEqualTo(busy.placement().decode());
  }

  @Test
  void sessionLeavesAHomeThatIsTooBusyAndSettlesElsewhere() {
    for (int i = 0; i < 2; i++) router.add(Instance.of("worker-" + i));
    int home = open("mine", 100, 0).placement().decode();
    int other = 1 - home;
    router.become(other, Availability.DOWN);
    for (int i = 0; i < 5; i++) open("", 8_000, 1_000L * i);
    router.become(other, Availability.READY);
    assertThat(open("mine", 100, 0).placement().decode()).isEqualTo(other);
    assertThat(open("mine", 100, 0).placement().decode()).isEqualTo(other);
  }

  @Test
  void sessionFindsANewHomeWhenItsOwnIsGone() {
    for (int i = 0; i < 2; i++) router.add(Instance.of("worker-" + i));
    int home = open("mine", 100, 0).placement().decode();
    router.remove(home);
    assertThat(router.sessions()).isZero();
    int next = open("mine", 100, 0).placement().decode();
    assertThat(next).isEqualTo(1 - home);
    int fresh = router.add(Instance.of("worker-2"));
    assertThat(fresh).isEqualTo(2);
    assertThat(open("mine", 100, 0).placement().decode()).isEqualTo(next);
  }

  @Test
  void sessionsAreBounded() {
    var limits = new StickyLimits(10, Duration.ofHours(1), Duration.ofSeconds(1));
    var small = router(RouterSettings.DEFAULT.withSessions(limits), "balanced", "predictive");
    small.add(Instance.of("worker"));
    for (int i = 0; i < 50; i++) {
      small.open(RouteRequest.of("session-" + i, 10, List.of())).orElseThrow().close();
    }
    assertThat(small.sessions()).isEqualTo(10);
  }

  @Test
  void oldMetricsAreIgnored() {
    int id = router.add(Instance.of("worker"));
    router.updateSignals(id, new EngineSignals(7, 3, 0.5, 0, -1, 9_000));
    assertThat(router.load(id).prefillTokens()).isEqualTo(9_000);
    assertThat(router.load(id).decodeStreams()).isEqualTo(3);
    loop.runFor(Duration.ofMillis(2_001));
    assertThat(router.load(id)).isEqualTo(Load.NONE);
    router.remove(id);
    assertThat(router.updateSignals(id, EngineSignals.NONE)).isFalse();
  }

  @Test
  void requestFollowsItsPrefixAsEventsTellIt() {
    for (int i = 0; i < 4; i++) router.add(Instance.of("worker-" + i));
    for (var hash : Views.hashes(0, 50)) {
      router.on(2, List.of(new KvEvent.Stored(Tier.DEVICE, TokenBlock.named(hash, null, 0))));
    }
    var route = open("", 800, 0);
    assertThat(route.placement().decode()).isEqualTo(2);
    assertThat(route.written().uncachedTokens()).isEqualTo(1);
    assertThat(route.routeClass()).isEqualTo(RouteClass.WARM);
    router.restarted(2);
    assertThat(open("", 800, 0).placement().decode()).isNotEqualTo(2);
  }

  @Test
  void requestFollowsItsPrefixWhereNobodyTells() {
    for (int i = 0; i < 4; i++) router.add(Instance.of("worker-" + i));
    int first = open("", 8_000, 0).placement().decode();
    loop.runFor(Duration.ofMinutes(2));
    open("", 160, 9_000).close();
    var again = router.view(request("", 8_000, 0));
    assertThat(again.instances().get(first).cached().total()).isEqualTo(500);
  }

  @Test
  void offloadedRequestIsOnTheBooksOfBoth() {
    var pair = pair();
    var route = pair.open(Views.request(60_000)).orElseThrow();
    assertThat(route.placement()).isInstanceOf(Offload.class);
    var placed = (Offload) route.placement();
    assertThat(pair.load(placed.prefill()).placements()).isEqualTo(1);
    assertThat(pair.load(placed.prefill()).prefillTokens()).isEqualTo(60_000);
    assertThat(pair.load(placed.decode()).inFlight()).isEqualTo(1);
    route.prefillSent();
    loop.runFor(Duration.ofSeconds(5));
    route.prefillDone();
    assertThat(pair.load(placed.prefill())).isEqualTo(recently(placed.prefill(), pair));
    loop.runFor(Duration.ofSeconds(1));
    route.firstToken();
    route.emitted(9);
    assertThat(pair.load(placed.decode()).contextTokens()).isEqualTo(60_009);
    route.close();
    assertThat(pair.load(placed.decode()).inFlight()).isZero();
    var written = route.written();
    assertThat(written.times())
        .isEqualTo(new RouteTimes(0, 0, 5_000_000_000L, 6_000_000_000L, 6_000_000_000L));
    assertThat(written.routeClass()).isEqualTo("HEAVY_P2P");
    assertThat(written.emittedTokens()).isEqualTo(9);
  }

  private static Load recently(int id, Router router) {
    var load = router.load(id);
    return new Load(
        0, 0, 0, 0, 0, 0, 0, 0, load.recentWork(), load.prefillRate(), Double.POSITIVE_INFINITY);
  }

  /** Else whoever decodes for others would look free, and get all of them. */
  @Test
  void offloadedRequestCountsAsSentLatelyToBoth() {
    var always = router(RouterSettings.DEFAULT, "balanced", "always");
    for (int i = 0; i < 2; i++) always.add(Instance.of("worker-" + i));
    assertThat(always.open(RouteRequest.of("", 4_096, List.of()))).isPresent();
    assertThat(always.load(0).recentWork()).isPositive();
    assertThat(always.load(1).recentWork()).isEqualTo(always.load(0).recentWork());
  }

  @Test
  void aWholeAnswerDecodesFromWhenItsPrefillIsPredictedToEnd() {
    int id = router.add(Instance.of("worker"));
    var route = open("", 8_000, 0);
    double seconds = route.placement().predicted().colocateSeconds();
    route.answersWhole();
    loop.runFor(Duration.ofMillis((long) (seconds * 1_000) - 1));
    assertThat(router.load(id).prefillTokens()).isEqualTo(8_000);
    loop.runFor(Duration.ofMillis(2));
    assertThat(router.load(id).prefillTokens()).isZero();
    assertThat(router.load(id).decodeStreams()).isEqualTo(1);
    assertThat(router.load(id).contextTokens()).isEqualTo(8_000);
    route.close();
    assertThat(route.written().times().firstToken()).isEqualTo(RouteTimes.NEVER);
    assertThat(router.load(id).inFlight()).isZero();
    assertThat(router.load(id).contextTokens()).isZero();
  }

  @Test
  void wholeAnswersTeachNoSpeed() {
    router.add(Instance.of("worker"));
    double before = router.estimates().workPerSecond();
    for (int i = 0; i < 20; i++) {
      var route = open("", 8_000, 10_000L * i);
      route.answersWhole();
      loop.runFor(Duration.ofSeconds(60));
      route.close();
    }
    assertThat(router.estimates().workPerSecond()).isEqualTo(before);
  }

  @Test
  void aStreamThatComesAllTheSameHasItsFirstToken() {
    int id = router.add(Instance.of("worker"));
    var route = open("", 8_000, 0);
    route.answersWhole();
    loop.runFor(Duration.ofSeconds(60));
    route.firstToken();
    route.emitted(3);
    assertThat(router.load(id).contextTokens()).isEqualTo(8_003);
    route.close();
    assertThat(route.written().times().firstToken()).isEqualTo(60_000_000_000L);
    assertThat(router.load(id).contextTokens()).isZero();
  }

  @Test
  void aWholeAnswerPrefilledElsewhereDecodesAfterItsPredictedTransfer() {
    var pair = pair();
    var route = pair.open(Views.request(60_000)).orElseThrow();
    var placed = (Offload) route.placement();
    route.answersWhole();
    route.prefillSent();
    loop.runFor(Duration.ofSeconds(50));
    assertThat(pair.load(placed.decode()).decodeStreams()).isZero();
    route.prefillDone();
    loop.runFor(Duration.ofSeconds(1));
    assertThat(pair.load(placed.decode()).decodeStreams()).isEqualTo(1);
    // What was handed over cannot be used, so that it is computed again where it decodes.
    route.transferFailed();
    assertThat(pair.load(placed.decode()).decodeStreams()).isZero();
    assertThat(pair.load(placed.decode()).prefillTokens()).isEqualTo(60_000);
    loop.runFor(Duration.ofMinutes(5));
    assertThat(pair.load(placed.decode()).decodeStreams()).isEqualTo(1);
    route.close();
    assertThat(pair.load(placed.decode())).isEqualTo(recently(placed.decode(), pair));
  }

  @Test
  void failedPrefillElsewhereFallsBackToTheDecodingInstance() {
    var pair = pair();
    var route = pair.open(Views.request(60_000)).orElseThrow();
    var placed = (Offload) route.placement();
    route.prefillFailed();
    assertThat(route.placement())
        .isEqualTo(
            new Colocate(placed.decode(), Reason.OFFLOAD_FAILED_FALLBACK_COLO, placed.predicted()));
    assertThat(pair.load(placed.prefill()).inFlight()).isZero();
    assertThat(pair.load(placed.decode()).prefillTokens()).isEqualTo(60_000);
    assertThat(route.written().routeClass()).isEqualTo("HEAVY_COLO");
    route.firstToken();
    route.close();
    assertThat(pair.load(placed.decode()).inFlight()).isZero();
    assertThatThrownBy(route::prefillFailed).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void transferThatFailsIsComputedAgain() {
    var pair = pair();
    var route = pair.open(Views.request(60_000)).orElseThrow();
    route.prefillDone();
    route.transferFailed();
    assertThat(route.placement().reason().label()).isEqualTo("kv_pull_failed_recompute");
    assertThat(pair.load(route.placement().decode()).prefillTokens()).isEqualTo(60_000);
    route.close();
    for (int id : pair.instances()) assertThat(pair.load(id).inFlight()).isZero();
  }

  @Test
  void instancesThatOnlyPrefillNeverDecode() {
    var settings = RouterSettings.DEFAULT.withStart(Views.LINEAR);
    var pd = router(settings, "least-loaded", "always");
    int prefill = pd.add(new Instance("p", Role.PREFILL, "nixl", 100));
    int decode = pd.add(new Instance("d", Role.DECODE, "nixl", 100));
    for (int i = 0; i < 5; i++) {
      var placed = pd.open(Views.request(8_000)).orElseThrow().placement();
      assertThat(placed).isEqualTo(new Offload(prefill, decode, Reason.FORCED, placed.predicted()));
    }
  }

  /** One that only prefills, and three that decode six streams each. */
  @Test
  void aDedicatedPrefillerTakesAsManyPromptsAsItsQueueIsWorth() {
    assertThat(offloaded(4, PlacementSettings.DEFAULT)).isBetween(3, 4);
    assertThat(offloaded(40, PlacementSettings.DEFAULT)).isBetween(3, 20);
  }

  @Test
  void aDedicatedPrefillerIsLeftAloneWhereThoseThatDecodeAreNotBusy() {
    assertThat(offloaded(0, 1, PlacementSettings.DEFAULT)).isZero();
  }

  @Test
  void whatADedicatedPrefillerTakesCanBeBounded() {
    assertThat(offloaded(4, PlacementSettings.DEFAULT.withLimits(1, 1, 1.5))).isEqualTo(1);
    assertThat(offloaded(4, PlacementSettings.DEFAULT.withLimits(1, 2, 1.5))).isEqualTo(2);
    assertThatThrownBy(() -> PlacementSettings.DEFAULT.withLimits(0, -1, 1.5))
        .hasMessage(
            "placements-max 0, expected 1 or more; dedicated-placements-max -1, expected 0 or"
                + " more");
  }

  /** Of so many prompts, those that the one that only prefills gets from three that are busy. */
  private int offloaded(int prompts, PlacementSettings placement) {
    return offloaded(250, prompts, placement);
  }

  private int offloaded(int before, int prompts, PlacementSettings placement) {
    var pool =
        new Router(
            loop,
            RouterSettings.DEFAULT,
            PickPolicy.named("balanced", WeightedPick.SCORERS_DEFAULT, Ties.first()),
            PlacementPolicy.named("predictive", placement));
    pool.add(new Instance("p", Role.PREFILL, "nixl", 10_000));
    for (int i = 0; i < 3; i++) pool.add(new Instance("d" + i, Role.DECODE, "nixl", 10_000));
    for (int i = 0; i < 18; i++) pool.open(Views.request(100)).orElseThrow().firstToken();
    for (int i = 0; i < before; i++) pool.open(Views.request(2_000)).orElseThrow().close();
    int offloaded = 0;
    for (int i = 0; i < prompts; i++) {
      var placed = pool.open(Views.request(30_000)).orElseThrow().placement();
      if (placed instanceof Offload) offloaded++;
    }
    return offloaded;
  }

  @Test
  void speedOfPrefillAndTransferIsLearnt() {
    var pair = pair();
    for (int i = 0; i < 8; i++) handOver(pair, Duration.ofMillis(100));
    assertThat(pair.estimates().transferSeconds(60_000)).isCloseTo(0.1, within(1e-9));
    assertThat(pair.estimates().workPerSecond()).isEqualTo(30_000);
    // One that waits behind a prefill says nothing of the link.
    var before = pair.open(Views.request(100)).orElseThrow();
    assertThat(before.placement()).isInstanceOf(Colocate.class);
    handOver(pair, Duration.ofSeconds(3));
    assertThat(pair.estimates().transferSeconds(60_000)).isCloseTo(0.1, within(1e-9));
    before.close();
    handOver(pair, Duration.ofSeconds(1));
    assertThat(pair.estimates().transferSeconds(60_000)).isCloseTo(0.2, within(1e-9));
  }

  private void handOver(Router pair, Duration time) {
    var route = pair.open(Views.request(60_000)).orElseThrow();
    loop.runFor(Duration.ofSeconds(2));
    route.prefillDone();
    loop.runFor(time);
    route.firstToken();
    route.close();
  }

  /** After a restart of the gateway the caches are full, and nothing is known of them. */
  @Test
  void cacheHitsThatTheRouterDidNotKnowOfDoNotMakeAnInstanceFast() {
    router.add(Instance.of("worker"));
    for (int i = 0; i < 16; i++) {
      var cached = open("", 8_192, i * 1_000L);
      loop.runFor(Duration.ofMillis(30));
      cached.firstToken();
      cached.updateUsage(8_000, 7_990);
      cached.close();
    }
    assertThat(router.estimates().workPerSecond()).isEqualTo(8_000);
    for (int i = 0; i < 16; i++) {
      var half = open("", 8_192, (100 + i) * 1_000L);
      loop.runFor(Duration.ofSeconds(1));
      half.firstToken();
      half.updateUsage(8_000, 4_000);
      half.close();
    }
    long work = Estimates.DEFAULT.work(4_096, 8_192);
    assertThat(router.estimates().workPerSecond()).isEqualTo((double) work);
  }

  @Test
  void answersOfATellingInstanceThatAreCutShortSayNothingOfItsSpeed() {
    router.add(Instance.of("worker"));
    for (int i = 0; i < 20; i++) {
      var route = open("", 8_192, i * 1_000L);
      loop.runFor(Duration.ofSeconds(1));
      route.firstToken();
      if (i % 2 == 0) route.updateUsage(8_192, 0);
      if (i % 2 == 1) loop.runFor(Duration.ofSeconds(1));
      route.close();
    }
    assertThat(router.estimates().workPerSecond())
        .isEqualTo((double) Estimates.DEFAULT.work(8_192, 8_192));
    for (int i = 0; i < 100; i++) {
      var gone = open("", 8_192, (100 + i) * 1_000L);
      loop.runFor(Duration.ofMillis(1));
      gone.firstToken();
      gone.close();
    }
    assertThat(router.estimates().workPerSecond())
        .isEqualTo((double) Estimates.DEFAULT.work(8_192, 8_192));
  }

  @Test
  void prefillOfAnEarlierAttemptSaysNothingOfTheSpeed() {
    var pair = pair();
    for (int i = 0; i < 16; i++) {
      var route = pair.open(Views.request(60_000)).orElseThrow();
      loop.runFor(Duration.ofNanos(900));
      route.prefillSkipped();
      route.firstToken();
      route.close();
    }
    assertThat(pair.estimates().workPerSecond()).isEqualTo(10_000);
  }

  @Test
  void removedInstanceEndsWhatItHas() {
    int id = router.add(Instance.of("worker"));
    var route = open("", 100, 0);
    router.remove(id);
    route.firstToken();
    route.emitted(4);
    route.close();
    assertThatThrownBy(() -> router.load(id)).hasMessage("no instance " + id);
    assertThat(router.instances()).isEmpty();
  }

  /** One that only prefills and one that decodes, so that heavy requests go to both. */
  private Router pair() {
    var settings = RouterSettings.DEFAULT.withStart(Views.LINEAR);
    var pair = router(settings, "least-loaded", "always");
    pair.add(new Instance("p", Role.PREFILL, "nixl", 10_000));
    pair.add(new Instance("d", Role.BOTH, "nixl", 10_000));
    return pair;
  }

  private Route open(String session, int promptTokens, long firstBlock) {
    return router.open(request(session, promptTokens, firstBlock)).orElseThrow();
  }

  private static RouteRequest request(String session, int promptTokens, long firstBlock) {
    return RouteRequest.of(session, promptTokens, Views.hashes(firstBlock, promptTokens / 16));
  }

  private Router router(String pick, String placement) {
    return router(RouterSettings.DEFAULT, pick, placement);
  }

  private Router router(RouterSettings settings, String pick, String placement) {
    return new Router(
        loop,
        settings.withIndex(new IndexSettings(20_000, 1_000, Duration.ofSeconds(5), 8)),
        PickPolicy.named(pick, WeightedPick.SCORERS_DEFAULT, Ties.first()),
        PlacementPolicy.named(placement, PlacementSettings.DEFAULT));
  }
}
