package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.FlowRequest.State;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.turn.TurnRules.ClassRule;
import dev.kvasir.router.turn.TurnRules.Late;
import dev.kvasir.router.turn.TurnRules.Order;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.router.worker.EjectionRules;
import dev.kvasir.router.worker.Submission;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests who goes first, and how much a worker is given. */
class TurnRulesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final VirtualLoop loop = new VirtualLoop();
  private final List<QueuedRequest> requests = new ArrayList<>();
  private Router router;
  private WorkerTable<String> table;
  private RequestFlow flow;

  TurnRulesTest() {
    open(1, 1, TurnRules.DEFAULT);
  }

  private void open(int workers, int inFlightMax, TurnRules turns) {
    var picks = PickPolicy.named("least-loaded", WeightedPick.SCORERS_DEFAULT, Ties.inTurn());
    var placement = PlacementPolicy.named("never", PlacementSettings.DEFAULT);
    var settings = RouterSettings.DEFAULT.withFreshness(Duration.ofHours(1));
    router = new Router(loop, settings, picks, placement);
    table = new WorkerTable<>(router, EjectionRules.DEFAULT, new IdleDriver.Unwatched());
    var queue = new QueueLimits(inFlightMax, 1_000, PATIENCE, turns);
    flow = new RequestFlow(loop, router, table, FlowSettings.OPEN.with(queue));
    for (int i = 0; i < workers; i++) {
      var worker = new Instance("w" + i, Role.BOTH, "m", 1_000);
      int id = table.add(worker, WorkerEntry.Handover.AFTER, "w", 0).id();
      table.probeSucceeded(id, 0);
    }
  }

  private static TurnRules fair(String... weights) {
    return rules(Order.FAIR, List.of(weights), List.of(), Late.WAIT);
  }

  private static TurnRules capped(int inFlight, int waiting, double kv) {
    return new TurnRules(
        Order.ARRIVAL,
        List.of(),
        List.of(),
        inFlight,
        0,
        SloClass.CRITICAL,
        0,
        waiting,
        kv,
        Late.WAIT);
  }

  private static TurnRules rules(
      Order order, List<String> weights, List<ClassRule> classes, Late late) {
    return new TurnRules(order, weights, classes, 0, 0, SloClass.CRITICAL, 0, 0, 0, late);
  }

  private static ClassRule due(SloClass sloClass, int priority, long millis) {
    return new ClassRule(sloClass, priority, Duration.ofMillis(millis));
  }

  private QueuedRequest submit(String tenant, int tokens) {
    return submit(tenant, tokens, SloClass.STANDARD, "");
  }

  private QueuedRequest submit(String tenant, int tokens, SloClass sloClass, String model) {
    var request = new QueuedRequest(tenant);
    requests.add(request);
    var route = new RouteRequest("", tokens, List.of(), sloClass, List.of());
    request.begin(new Submission(model, route, false, false, Submission.NO_NEEDS, 0));
    return request;
  }

  private QueuedRequest submitLong(String tenant, int contextTokens) {
    var request = new QueuedRequest(tenant);
    requests.add(request);
    var route = new RouteRequest("", 10, List.of(), SloClass.STANDARD, List.of());
    request.begin(new Submission("x", route, false, false, Submission.NO_NEEDS, contextTokens));
    return request;
  }

  private void end(QueuedRequest request, int outputTokens) {
    flow.over(request.request, new RequestEnd(Verdict.ANSWERED, -1, -1, outputTokens));
  }

  /** Ends what runs, one after the other, and adds up the tokens that each tenant was served. */
  private Map<String, Integer> serve(int count) {
    var served = new TreeMap<String, Integer>();
    for (int i = 0; i < count; i++) {
      var running = requests.stream().filter(each -> each.isRunning()).findFirst().orElseThrow();
      served.merge(
          running.request.caller().tenant(),
          running.request.routeRequest().promptTokens(),
          Integer::sum);
      loop.runFor(Duration.ofMillis(1));
      end(running, 0);
    }
    return served;
  }

  @Test
  void tenantsGetTokensByTheirWeightsHoweverManyRequestsTheyMake() {
    open(1, 1, fair("a=3"));
    var random = new SplittableRandom(1);
    for (int i = 0; i < 300; i++) submit("a", 100 + random.nextInt(100));
    for (int i = 0; i < 600; i++) submit("b", 10 + random.nextInt(20));
    var served = serve(400);
    double ratio = (double) served.getOrDefault("a", 0) / served.getOrDefault("b", 0);
    assertThat(ratio).isBetween(2.8, 3.2);
  }

  @Test
  void theTokensOfAnswersCountToo() {
    open(1, 1, fair());
    for (int i = 0; i < 100; i++) submit("talkative", 10);
    for (int i = 0; i < 100; i++) submit("terse", 10);
    int talkative = 0;
    for (int i = 0; i < 60; i++) {
      var running = requests.stream().filter(each -> each.isRunning()).findFirst().orElseThrow();
      boolean isTalkative = running.request.caller().tenant().equals("talkative");
      talkative += isTalkative ? 1 : 0;
      end(running, isTalkative ? 90 : 0);
    }
    // What waits keeps its place, and what comes later begins behind the answers.
    var later = submit("talkative", 10);
    var other = submit("terse", 10);
    assertThat(later.request.place).isGreaterThan(other.request.place);
    assertThat(talkative).isPositive();
  }

  @Test
  void whoComesNewIsNotBehindAllThatAnotherHasInLine() {
    open(1, 1, fair());
    for (int i = 0; i < 50; i++) submit("flood", 100);
    serve(10);
    var newcomer = submit("new", 100);
    serve(2);
    assertThat(newcomer.request.state()).isNotEqualTo(State.WAITING);
  }

  @Test
  void withoutFairnessTheOrderOfArrivalCounts() {
    open(1, 1, TurnRules.DEFAULT);
    for (int i = 0; i < 5; i++) submit("flood", 100);
    var newcomer = submit("new", 100);
    serve(4);
    assertThat(newcomer.request.state()).isEqualTo(State.WAITING);
  }

  @Test
  void aRequestWaitsUntilAWorkerHasRoomAndGoesThere() {
    open(2, 100, capped(2, 0, 0));
    for (int i = 0; i < 4; i++) assertThat(submit("a", 10).isRunning()).isTrue();
    var fifth = submit("a", 10);
    assertThat(fifth.request.state()).isEqualTo(State.WAITING);
    var ended = requests.get(2);
    int worker = ended.worker();
    end(ended, 0);
    assertThat(fifth.isRunning()).isTrue();
    assertThat(fifth.worker()).isEqualTo(worker);
  }

  @Test
  void whatWorkersTellOfTheirQueueAndMemoryBoundsWhatTheyAreGiven() {
    open(2, 100, capped(0, 3, 0.9));
    router.updateSignals(0, EngineSignals.of(3, 8, 0.5));
    router.updateSignals(1, EngineSignals.of(0, 8, 0.95));
    var waits = submit("a", 10);
    assertThat(waits.request.state()).isEqualTo(State.WAITING);
    router.updateSignals(0, EngineSignals.of(2, 8, 0.5));
    loop.runFor(Duration.ofMillis(50));
    assertThat(waits.isRunning()).isTrue();
    assertThat(waits.worker()).isZero();
  }

  @Test
  void oneThatWaitsForItsModelHoldsUpNoOther() {
    open(2, 100, capped(1, 0, 0));
    table.serves(0, List.of("x"), 0);
    table.serves(1, List.of("y"), 0);
    submit("a", 10, SloClass.STANDARD, "x");
    var y = submit("a", 10, SloClass.STANDARD, "y");
    var waitsForX = submit("a", 10, SloClass.STANDARD, "x");
    var waitsForY = submit("a", 10, SloClass.STANDARD, "y");
    end(y, 0);
    assertThat(waitsForY.isRunning()).isTrue();
    assertThat(waitsForX.request.state()).isEqualTo(State.WAITING);
  }

  @Test
  void anyNumberThatWaitsForOneModelDelaysNoOther() {
    open(2, 1_000, capped(2, 0, 0));
    table.serves(0, List.of("x"), 0);
    table.serves(1, List.of("y"), 0);
    for (int i = 0; i < 300; i++) submit("a", 10, SloClass.STANDARD, "x");
    var y = submit("a", 10, SloClass.STANDARD, "y");
    assertThat(y.isRunning()).isTrue();
    assertThat(submit("a", 10, SloClass.STANDARD, "y").isRunning()).isTrue();
    var waitsForY = submit("a", 10, SloClass.STANDARD, "y");
    assertThat(waitsForY.isRunning()).isFalse();
    end(y, 0);
    assertThat(waitsForY.isRunning()).isTrue();
    assertThat(flow.waiting()).isEqualTo(298);
  }

  @Test
  void placesThatAreKeptForAClassAreGivenToItHoweverManyOthersWait() {
    open(1, 1_000, TurnRules.DEFAULT.withBounds(3, 1, 0));
    for (int i = 0; i < 300; i++) submit("a", 10);
    assertThat(flow.waiting()).isEqualTo(298);
    assertThat(submit("a", 10, SloClass.CRITICAL, "").isRunning()).isTrue();
  }

  @Test
  void aRequestWaitsForAWorkerThatCanAnswerItThoughAnotherOfItsModelHasRoom() {
    open(2, 1_000, capped(1, 0, 0));
    table.serves(0, List.of("x"), 1_000);
    table.serves(1, List.of("x"), 8_000);
    var first = submitLong("a", 5_000);
    var second = submitLong("a", 5_000);
    assertThat(first.worker()).isEqualTo(1);
    assertThat(second.request.state()).isEqualTo(State.WAITING);
    assertThat(submitLong("a", 500).isRunning()).isTrue();
    // It can do more than before: whoever waits may go there now.
    end(requests.getLast(), 0);
    table.serves(0, List.of("x"), 8_000);
    loop.runFor(Duration.ofMillis(20));
    assertThat(second.worker()).isZero();
  }

  @Test
  void whoComesNewIsNotBehindTheLineOfItsModelBecauseOthersWereServedElsewhere() {
    var fair =
        new TurnRules(
            Order.FAIR, List.of(), List.of(), 1, 0, SloClass.CRITICAL, 0, 0, 0, Late.WAIT);
    open(2, 1_000, fair);
    table.serves(0, List.of("x"), 0);
    table.serves(1, List.of("y"), 0);
    var running = submit("flood", 100, SloClass.STANDARD, "x");
    for (int i = 0; i < 50; i++) submit("flood", 100, SloClass.STANDARD, "x");
    for (int i = 0; i < 200; i++) end(submit("other", 1_000, SloClass.STANDARD, "y"), 0);
    var newcomer = submit("new", 100, SloClass.STANDARD, "x");
    end(running, 0);
    end(requests.stream().filter(QueuedRequest::isRunning).findFirst().orElseThrow(), 0);
    assertThat(newcomer.isRunning()).isTrue();
  }

  @Test
  void theMoreImportantClassIsBoundFirstThoughItCameLater() {
    open(1, 100, capped(1, 0, 0));
    var running = submit("a", 10);
    var batch = submit("a", 10, SloClass.BATCH, "");
    var critical = submit("a", 10, SloClass.CRITICAL, "");
    end(running, 0);
    assertThat(critical.isRunning()).isTrue();
    assertThat(batch.request.state()).isEqualTo(State.WAITING);
  }

  @Test
  void someOfAWorkerIsKeptForTheMostImportantClass() {
    open(1, 100, TurnRules.DEFAULT.withBounds(3, 1, 0));
    for (int i = 0; i < 2; i++) assertThat(submit("a", 10).isRunning()).isTrue();
    var standard = submit("a", 10);
    assertThat(standard.isRunning()).isFalse();
    assertThat(submit("a", 10, SloClass.CRITICAL, "").isRunning()).isTrue();
    end(requests.getFirst(), 0);
    assertThat(standard.isRunning()).isFalse();
    end(requests.get(1), 0);
    assertThat(standard.isRunning()).isTrue();
  }

  @Test
  void aClassMayBeNamedForWhichPlacesAreKept() {
    var kept =
        new TurnRules(
            Order.ARRIVAL, List.of(), List.of(), 2, 1, SloClass.STANDARD, 0, 0, 0, Late.WAIT);
    open(1, 100, kept);
    assertThat(submit("a", 10, SloClass.BATCH, "").isRunning()).isTrue();
    var batch = submit("a", 10, SloClass.BATCH, "");
    assertThat(batch.isRunning()).isFalse();
    assertThat(submit("a", 10).isRunning()).isTrue();
  }

  @Test
  void aWorkerThatPrefillsIsGivenNothingMoreUntilTheFirstToken() {
    open(1, 100, TurnRules.DEFAULT.withBounds(0, 0, 1));
    var first = submit("a", 10);
    var second = submit("a", 10);
    var critical = submit("a", 10, SloClass.CRITICAL, "");
    assertThat(first.isRunning()).isTrue();
    assertThat(second.isRunning() || critical.isRunning()).isFalse();
    flow.firstToken(first.request);
    assertThat(critical.isRunning()).isTrue();
    assertThat(second.isRunning()).isFalse();
    flow.firstToken(critical.request);
    assertThat(second.isRunning()).isTrue();
  }

  @Test
  void classesOfOnePriorityGoByWhenTheyAreDue() {
    var classes = List.of(due(SloClass.STANDARD, 0, 5_000), due(SloClass.BATCH, 3, 1_000));
    open(1, 1, rules(Order.DEADLINE, List.of(), classes, Late.WAIT));
    var running = submit("a", 10);
    var background = submit("a", 10, SloClass.BACKGROUND, "");
    var standard = submit("a", 10);
    loop.runFor(Duration.ofSeconds(1));
    var batch = submit("a", 10, SloClass.BATCH, "");
    loop.runFor(Duration.ofMillis(3_500));
    var late = submit("a", 10, SloClass.BATCH, "");
    var critical = submit("a", 10, SloClass.CRITICAL, "");
    end(running, 0);
    for (var next : List.of(critical, batch, standard, late, background)) {
      assertThat(next.isRunning()).isTrue();
      end(next, 0);
    }
  }

  /** A request takes a second, of which the first half passes before its first token. */
  private void serveForSeconds(int count) {
    for (int i = 0; i < count; i++) {
      var running = requests.stream().filter(each -> each.isRunning()).findFirst();
      loop.runFor(Duration.ofMillis(500));
      running.ifPresent(each -> flow.firstToken(each.request));
      loop.runFor(Duration.ofMillis(500));
      running.ifPresent(each -> end(each, 0));
    }
  }

  @Test
  void whatCannotKeepItsTargetIsRefusedAndWhatIsTakenKeepsIt() {
    var classes = List.of(due(SloClass.STANDARD, 0, 5_000));
    open(1, 1, rules(Order.DEADLINE, List.of(), classes, Late.SHED));
    for (int i = 0; i < 40; i++) {
      submit("a", 10);
      serveForSeconds(1);
    }
    requests.clear();
    for (int i = 0; i < 40; i++) submit("a", 10);
    var background = submit("a", 10, SloClass.BACKGROUND, "");
    var refused = requests.stream().filter(each -> each.refusal != null).toList();
    // One runs, and the turns of four come within the 4.5 s that leave time for a first token.
    assertThat(refused).hasSize(35);
    for (var each : refused) {
      var refusal = Objects.requireNonNull(each.refusal);
      assertThat(refusal.kind()).isEqualTo(Refusal.Kind.LATE);
      assertThat(refusal.message()).contains("it may wait 4500 ms");
      // A place in line is free when the next one ends.
      assertThat(refusal.retryAfter()).isEqualTo(Duration.ofSeconds(1));
    }
    serveForSeconds(6);
    assertThat(requests).filteredOn(each -> each.refusal != null).hasSize(35);
    // A class without a target waits as long as there is patience.
    assertThat(background.refusal).isNull();
  }

  @Test
  void whatCannotKeepItsTargetAnyMoreIsRefusedThoughNothingWasForeseen() {
    var classes = List.of(due(SloClass.STANDARD, 0, 300));
    open(1, 1, rules(Order.ARRIVAL, List.of(), classes, Late.SHED));
    submit("a", 10);
    var waits = submit("a", 10);
    loop.runFor(Duration.ofMillis(299));
    assertThat(waits.request.state()).isEqualTo(State.WAITING);
    loop.runFor(Duration.ofMillis(2));
    var refusal = Objects.requireNonNull(waits.refusal);
    assertThat(refusal.kind()).isEqualTo(Refusal.Kind.LATE);
    assertThat(refusal.retryAfter()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(60));
  }

  @Test
  void whatCannotKeepItsPatienceIsRefusedAtOnceAndToldWhenToCome() {
    open(1, 1, rules(Order.ARRIVAL, List.of(), List.of(), Late.SHED));
    // A request takes a second.
    for (int i = 0; i < 40; i++) {
      var one = submit("a", 10);
      loop.runFor(Duration.ofSeconds(1));
      end(one, 0);
    }
    for (int i = 0; i < 40; i++) submit("a", 10);
    for (int i = 0; i < 30; i++) {
      var running = requests.stream().filter(each -> each.isRunning()).findFirst().orElseThrow();
      loop.runFor(Duration.ofMillis(990));
      end(running, 0);
    }
    var refused = requests.stream().filter(each -> each.refusal != null).toList();
    assertThat(refused).isNotEmpty();
    for (var each : refused) {
      var refusal = Objects.requireNonNull(each.refusal);
      assertThat(refusal.kind()).isEqualTo(Refusal.Kind.LATE);
      assertThat(refusal.message()).contains("its turn would come in");
      assertThat(refusal.retryAfter()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(15));
    }
    // Nobody who was let in has waited in vain.
    assertThat(requests).noneMatch(each -> each.timedOut());
  }

  @Test
  void settingsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> fair("a=0")).hasMessageContaining("expected TENANT=WEIGHT");
    assertThatThrownBy(() -> fair("a")).hasMessageContaining("weight 'a'");
    assertThatThrownBy(() -> capped(-1, 0, 0)).hasMessageContaining("-1 in flight");
    assertThatThrownBy(() -> capped(0, 0, 1.5)).hasMessageContaining("1.5");
    var twice = List.of(due(SloClass.BATCH, 0, 1), due(SloClass.BATCH, 0, 2));
    assertThatThrownBy(() -> rules(Order.FAIR, List.of(), twice, Late.WAIT))
        .hasMessageContaining("a class is named twice");
    assertThatThrownBy(() -> due(SloClass.BATCH, 0, -1)).hasMessageContaining("target PT-0.001S");
    assertThatThrownBy(() -> TurnRules.DEFAULT.withBounds(2, 2, 0))
        .hasMessageContaining("2 of 2 requests of a worker are reserved");
  }

  private final class QueuedRequest extends IdleDriver {
    final FlowRequest request;
    @Nullable Refusal refusal;

    QueuedRequest(String tenant) {
      request = new FlowRequest(new FlowCaller(tenant, tenant, KeyLimits.UNLIMITED), this);
    }

    void begin(Submission submission) {
      resume(flow.arrive(request));
      resume(flow.submit(request, submission));
    }

    boolean isRunning() {
      return request.isWithWorkers();
    }

    boolean timedOut() {
      return refusal != null && refusal.kind() == Refusal.Kind.QUEUE_TIMEOUT;
    }

    int worker() {
      return request.openRoute().placement().decode();
    }

    @Override
    protected void refuse(Refusal why) {
      refusal = why;
      flow.over(request, RequestEnd.of(Verdict.NONE));
    }
  }
}
