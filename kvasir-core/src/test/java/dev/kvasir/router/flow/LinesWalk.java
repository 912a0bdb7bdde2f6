package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.FlowRequest.State;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.view.Availability;
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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Hundreds of requests that wait for workers with bounds, each of which serves some of the models,
 * with a look at all books after every event.
 */
final class LinesWalk {
  /** The time until a change of the workers themselves is seen. */
  private static final Duration LOOK = Duration.ofMillis(20);

  private static final List<String> MODELS = List.of("x", "y", "z");
  private static final int REQUESTS = 700;

  private final RandomGenerator random;
  private final VirtualLoop loop = new VirtualLoop();
  private final TurnRules turns;
  private final int inFlightMax;
  private final Router router;
  private final WorkerTable<String> table;
  private final RequestFlow flow;
  private final List<QueuedRequest> requests = new ArrayList<>();
  private final Set<QueuedRequest> waiting = new LinkedHashSet<>();

  /** When a worker changed by itself last. */
  private long changedNanos = -LOOK.toNanos();

  private int running;
  private int waitedMost;

  LinesWalk(RandomGenerator random) {
    this.random = random;
    var orders = TurnRules.Order.values();
    int places = 1 + random.nextInt(4);
    this.turns =
        new TurnRules(
            orders[random.nextInt(orders.length)],
            List.of("tenant1=3"),
            List.of(),
            places,
            random.nextInt(places),
            SloClass.CRITICAL,
            0,
            0,
            0,
            TurnRules.Late.WAIT);
    this.inFlightMax = random.nextInt(3) == 0 ? 4 : 1_000;
    var picks = PickPolicy.named("least-loaded", "", Ties.random(random));
    var never = PlacementPolicy.named("never", PlacementSettings.DEFAULT);
    this.router = new Router(loop, RouterSettings.DEFAULT, picks, never);
    this.table = new WorkerTable<>(router, EjectionRules.DEFAULT, new IdleDriver.Unwatched());
    var queue = new QueueLimits(inFlightMax, REQUESTS, Duration.ofMinutes(10), turns);
    this.flow = new RequestFlow(loop, router, table, FlowSettings.OPEN.with(queue));
    for (int i = 0; i < 3 + random.nextInt(4); i++) {
      var worker = new Instance("w" + i, Role.BOTH, "m", 1_000);
      int id = table.add(worker, WorkerEntry.Handover.AFTER, "w", 0).id();
      table.probeSucceeded(id, 0);
      serve(id, i < MODELS.size() ? MODELS.get(i) : "x");
    }
  }

  /** The worker serves the model and perhaps others, with one of two lengths of context. */
  private void serve(int id, String model) {
    var models = new LinkedHashSet<>(List.of(model));
    if (random.nextBoolean()) models.add(MODELS.get(random.nextInt(MODELS.size())));
    table.serves(id, List.copyOf(models), random.nextBoolean() ? 0 : 1_000);
  }

  /** The most that waited at once. */
  int run() {
    arrive(0);
    change();
    while (loop.step()) {
      check();
      if (requests.size() == REQUESTS && requests.stream().allMatch(each -> each.closed)) break;
    }
    assertThat(requests).hasSize(REQUESTS).allMatch(each -> each.closed);
    assertThat(flow.inFlight() + flow.waiting() + flow.counted() + waiting.size()).isZero();
    for (int id : router.instances()) {
      var load = router.load(id);
      assertThat(load.inFlight() + load.prefills() + load.prefillTokens()).isZero();
    }
    return waitedMost;
  }

  /** In bursts, so that some hundreds wait and then nobody. */
  private void arrive(int count) {
    if (count == REQUESTS) return;
    var one = new QueuedRequest("tenant" + random.nextInt(3));
    requests.add(one);
    one.submit();
    boolean isBurst = count % 350 < 300;
    long nanos = random.nextInt(isBurst ? 300_000 : 40_000_000);
    loop.after(Duration.ofNanos(nanos), () -> arrive(count + 1));
  }

  private void change() {
    int id = random.nextInt(table.entries().size());
    switch (random.nextInt(4)) {
      case 0 -> table.drain(id);
      case 1 -> serve(id, MODELS.get(random.nextInt(MODELS.size())));
      default -> table.resume(id);
    }
    changedNanos = loop.nanos();
    loop.after(Duration.ofMillis(random.nextInt(200)), this::change);
  }

  private void check() {
    waitedMost = Math.max(waitedMost, waiting.size());
    assertThat(flow.waiting()).isEqualTo(waiting.size());
    assertThat(flow.inFlight()).isEqualTo(running).isLessThanOrEqualTo(inFlightMax);
    int booked = 0;
    for (int id : router.instances()) {
      int load = router.load(id).inFlight();
      assertThat(load).isLessThanOrEqualTo(turns.workerInFlightMax());
      booked += load;
    }
    assertThat(booked).isEqualTo(running);
    if (running == inFlightMax || loop.nanos() - changedNanos <= LOOK.toNanos()) return;
    for (var each : waiting) {
      for (var entry : table.entries()) {
        assertThat(mayStart(each.request, entry, 0))
            .as("%s waits though %s has room", each.request, entry)
            .isFalse();
      }
    }
  }

  private boolean mayStart(FlowRequest request, WorkerEntry<String> entry, int less) {
    return entry.availability() == Availability.READY
        && ables(request).contains(entry.id())
        && isPlace(request, router.load(entry.id()).inFlight() - less);
  }

  private boolean isPlace(FlowRequest request, int load) {
    boolean isImportant = request.routeRequest().sloClass() == SloClass.CRITICAL;
    return load < turns.workerInFlightMax() - (isImportant ? 0 : turns.workerReserve());
  }

  /** Those that serve its model, and that it is not too long for unless it is for all that do. */
  private List<Integer> ables(FlowRequest request) {
    var submission = request.submitted();
    var serving = new ArrayList<Integer>();
    var able = new ArrayList<Integer>();
    boolean isAnyAble = false;
    for (var entry : table.entries()) {
      if (!entry.serves(submission.model())) continue;
      serving.add(entry.id());
      int context = entry.contextTokens();
      if (context > 0 && submission.contextTokens() > context) continue;
      able.add(entry.id());
      isAnyAble |= entry.availability() == Availability.READY;
    }
    return isAnyAble ? able : serving;
  }

  /** Nobody who goes before it waits for the place that it took. */
  private void checkOrder(FlowRequest chosen, int worker) {
    var entry = table.entry(worker);
    assertThat(ables(chosen)).contains(worker);
    if (loop.nanos() - changedNanos <= LOOK.toNanos()) return;
    for (var each : waiting) {
      if (each.request == chosen || !WaitingRequests.isBefore(each.request, chosen)) continue;
      assertThat(mayStart(each.request, entry, 1))
          .as("%s overtakes %s", chosen, each.request)
          .isFalse();
    }
  }

  private final class QueuedRequest extends IdleDriver {
    final FlowRequest request;
    boolean closed;

    QueuedRequest(String tenant) {
      request = new FlowRequest(new FlowCaller(tenant, tenant, KeyLimits.UNLIMITED), this);
    }

    void submit() {
      resume(flow.arrive(request));
      var sloClass = random.nextInt(4) > 0 ? SloClass.STANDARD : SloClass.CRITICAL;
      // Most wait for one model.
      var model = random.nextInt(3) > 0 ? "x" : MODELS.get(random.nextInt(MODELS.size()));
      var route = new RouteRequest("", 1 + random.nextInt(900), List.of(), sloClass, List.of());
      int context = random.nextInt(2_000);
      var needs = Submission.NO_NEEDS;
      resume(flow.submit(request, new Submission(model, route, false, false, needs, context)));
      if (request.state() == State.WAITING) waiting.add(this);
      if (random.nextInt(20) == 0) loop.after(Duration.ofMillis(5), () -> end(Verdict.NONE));
    }

    @Override
    protected void send(Step.Send legs) {
      assertThat(legs).isEqualTo(Step.Send.WHOLE);
      waiting.remove(this);
      running++;
      checkOrder(request, Objects.requireNonNull(request.route()).placement().decode());
      long nanos = random.nextInt(40_000_000);
      loop.after(Duration.ofNanos(nanos), () -> flow.firstToken(request));
      loop.after(Duration.ofNanos(nanos + 1), () -> end(Verdict.ANSWERED));
    }

    private void end(Verdict verdict) {
      if (closed) return;
      closed = true;
      waiting.remove(this);
      if (request.route() != null) running--;
      flow.over(request, new RequestEnd(verdict, -1, -1, 1));
    }

    @Override
    protected void refuse(Refusal refusal) {
      waiting.remove(this);
      // All of its model are gone for now.
      assertThat(refusal.kind()).isIn(Refusal.Kind.NO_WORKER, Refusal.Kind.UNKNOWN_MODEL);
      loop.execute(() -> end(Verdict.NONE));
    }
  }
}
