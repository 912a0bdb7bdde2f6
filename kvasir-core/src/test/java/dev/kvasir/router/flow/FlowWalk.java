package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.FlowRequest.State;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.placement.PrefillPlacement;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.turn.TurnRules.ClassRule;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.router.worker.EjectionRules;
import dev.kvasir.router.worker.Need;
import dev.kvasir.router.worker.Submission;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import dev.kvasir.time.Timer;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/**
 * Random requests through a random fleet whose workers die, stall, refuse and come back, with a
 * look at all books after every event.
 */
final class FlowWalk {
  /** Behaviour of a worker towards what it is sent. */
  private enum Mood {
    GOOD,
    DEAD,
    STALLING,
    BUSY,
    FAILING,
    BREAKING
  }

  /** A worker whose mood changes. */
  private static final class Moody {
    Mood mood = Mood.GOOD;
  }

  private static final int EVENTS_MAX = 200_000;
  private static final Duration STALL = Duration.ofMillis(80);
  private static final Duration PROBES = Duration.ofMillis(20);

  private final RandomGenerator random;
  private final VirtualLoop loop = new VirtualLoop();
  private final FlowSettings settings;
  private final Router router;
  private final WorkerTable<Moody> workers;
  private final RequestFlow flow;
  private final List<FlowCaller> callers = new ArrayList<>();
  private final List<Trial> trials = new ArrayList<>();
  private final int requests;
  private boolean isCalm;

  /** Counts of what happened in all walks, by which a test sees that they cover their cases. */
  static final class Sum {
    long answered;
    long refused;
    long retried;
    long fellBack;
    long ejected;
    long displaced;
    long left;
  }

  private final Sum sum;

  /** The factor by which there are more workers and requests than usual. */
  private final int size;

  FlowWalk(RandomGenerator random, Sum sum) {
    this(random, sum, 1);
  }

  /** A walk of that many times more workers and requests. */
  FlowWalk(RandomGenerator random, Sum sum, int size) {
    this.random = random;
    this.size = size;
    this.sum = sum;
    this.settings =
        new FlowSettings(
            new QueueLimits(
                size * (1 + random.nextInt(12)),
                size * random.nextInt(10),
                Duration.ofMillis(1 + random.nextInt(99)),
                turns(random)),
            new RetryRules(
                1 + random.nextInt(4),
                random.nextInt(5) == 0 ? RetryRules.Split.STRICT : RetryRules.Split.FALL_BACK,
                Duration.ofMillis(random.nextInt(200))),
            new EjectionRules(1 + random.nextInt(4), Duration.ofMillis(50), random.nextDouble()),
            random.nextInt(4) == 0 ? AdmissionPolicy.tierShed(5, 3) : null);
    var placement = PlacementPolicy.named("always", PlacementSettings.DEFAULT);
    var picks = PickPolicy.named("least-loaded", WeightedPick.SCORERS_DEFAULT, Ties.random(random));
    this.router = new Router(loop, RouterSettings.DEFAULT, picks, placement);
    this.workers = new WorkerTable<>(router, settings.ejection(), new Watch());
    this.flow = new RequestFlow(loop, router, workers, settings);
    int workerCount = size * (2 + random.nextInt(5));
    for (int i = 0; i < workerCount; i++) addWorker(i);
    for (int i = 0; i < 3; i++) {
      var limits =
          i == 0
              ? KeyLimits.UNLIMITED
              : new KeyLimits(600 * i, 400_000, size * (2 + random.nextInt(8)));
      callers.add(new FlowCaller("tenant" + i, "key" + i, limits));
    }
    this.requests = size * (40 + random.nextInt(160));
  }

  /** Mostly none; else any of them, with bounds that are often met. */
  private static TurnRules turns(RandomGenerator random) {
    if (random.nextInt(3) > 0) return TurnRules.DEFAULT;
    var orders = TurnRules.Order.values();
    int inFlightMax = random.nextInt(4);
    return new TurnRules(
        orders[random.nextInt(orders.length)],
        List.of("tenant1=" + (1 + random.nextInt(4))),
        classes(random),
        inFlightMax,
        random.nextInt(Math.max(1, inFlightMax)),
        random.nextBoolean() ? SloClass.CRITICAL : SloClass.STANDARD,
        random.nextInt(3),
        0,
        0,
        random.nextBoolean() ? TurnRules.Late.SHED : TurnRules.Late.WAIT);
  }

  /** Some classes with targets, and some with the priority of another. */
  private static List<ClassRule> classes(RandomGenerator random) {
    var classes = new ArrayList<ClassRule>();
    for (var each : SloClass.values()) {
      if (random.nextBoolean()) continue;
      int priority = random.nextBoolean() ? 0 : 3;
      classes.add(new ClassRule(each, priority, Duration.ofMillis(random.nextInt(60))));
    }
    return classes;
  }

  private void addWorker(int index) {
    var role = index == 0 ? Role.BOTH : List.of(Role.values()).get(random.nextInt(3));
    var instance =
        new Instance("w" + index, role, random.nextInt(4) == 0 ? "other" : "same", 1_000);
    var handover = random.nextBoolean() ? WorkerEntry.Handover.AFTER : WorkerEntry.Handover.BESIDE;
    workers.add(instance, handover, new Moody(), loop.nanos());
  }

  private final class Watch implements WorkerTable.Listener<Moody> {
    @Override
    public void changed(WorkerEntry<Moody> entry, Availability before) {
      assertThat(router.availability(entry.id())).isNotEqualTo(before);
    }

    @Override
    public void withheld(WorkerEntry<Moody> entry, int ready) {
      assertThat(entry.availability()).isNotEqualTo(Availability.DOWN);
    }
  }

  void run() {
    probe();
    changeMoods();
    arrive(0);
    for (int events = 0; loop.step(); events++) {
      check();
      assertThat(events).isLessThan(EVENTS_MAX * size);
      if (isOver()) break;
    }
    for (var trial : trials) trial.checkOver();
    assertThat(flow.inFlight() + flow.waiting() + flow.counted()).isZero();
    for (int id : router.instances()) {
      var load = router.load(id);
      assertThat(load.inFlight() + load.prefills() + load.prefillTokens()).isZero();
      sum.ejected += workers.entry(id).ejections();
    }
    heal();
  }

  private boolean isOver() {
    return trials.size() == requests && trials.stream().allMatch(trial -> trial.closed > 0);
  }

  /** Workers that are well come back, whatever was held against them. */
  private void heal() {
    isCalm = true;
    for (var entry : workers.entries()) {
      entry.worker().mood = Mood.GOOD;
      workers.resume(entry.id());
    }
    loop.runFor(Duration.ofSeconds(1));
    assertThat(workers.ready()).isEqualTo(workers.entries().size());
  }

  private void probe() {
    for (var entry : workers.entries()) {
      if (entry.worker().mood == Mood.DEAD) workers.probeFailed(entry.id(), loop.nanos());
      else workers.probeSucceeded(entry.id(), loop.nanos());
    }
    loop.after(PROBES, this::probe);
  }

  private void changeMoods() {
    if (isCalm) return;
    for (var entry : workers.entries()) {
      if (random.nextInt(3) > 0) continue;
      var moods = Mood.values();
      entry.worker().mood = random.nextBoolean() ? Mood.GOOD : moods[random.nextInt(moods.length)];
    }
    if (random.nextInt(10) == 0) workers.drain(random.nextInt(workers.entries().size()));
    if (random.nextInt(3) == 0) workers.resume(random.nextInt(workers.entries().size()));
    loop.after(Duration.ofMillis(random.nextInt(1, 120)), this::changeMoods);
  }

  private void arrive(int count) {
    if (count == requests) return;
    var trial = new Trial(callers.get(random.nextInt(callers.size())));
    trials.add(trial);
    trial.follow(flow.arrive(trial.request));
    loop.after(Duration.ofNanos(random.nextInt(20_000_000 / size)), () -> arrive(count + 1));
  }

  private void check() {
    int placed = 0;
    int waiting = 0;
    int counted = 0;
    for (var trial : trials) {
      trial.check();
      var state = trial.request.state();
      if (state != State.WAITING || !trial.wasWaiting) trial.waitedSinceNanos = loop.nanos();
      assertThat(loop.nanos() - trial.waitedSinceNanos)
          .as("a request waits on")
          .isLessThanOrEqualTo(settings.queue().patience().toNanos());
      if (state == State.WAITING) checkDue(trial);
      trial.wasWaiting = state == State.WAITING;
      if (state != State.OVER && trial.request.route() != null) placed++;
      if (state == State.WAITING) waiting++;
      if (trial.accepted > 0 && state != State.OVER) counted++;
    }
    assertThat(flow.inFlight()).isEqualTo(placed).isLessThanOrEqualTo(inFlightMax());
    assertThat(flow.waiting())
        .isEqualTo(waiting)
        .isLessThanOrEqualTo(settings.queue().waitingMax());
    assertThat(flow.counted()).isEqualTo(counted);
    long open = trials.stream().filter(Trial::isBooked).count();
    int booked = 0;
    for (int id : router.instances()) booked += router.load(id).inFlight();
    assertThat((long) booked).isBetween(open, 2 * open);
  }

  /** Checks that, where targets are kept, nobody waits past the time its first token is due. */
  private void checkDue(Trial trial) {
    var turns = settings.queue().turns();
    var target = turns.target(trial.request.routeRequest().sloClass());
    if (turns.late() == TurnRules.Late.WAIT || target.isZero()) return;
    long due = Math.max(trial.arrivedNanos + target.toNanos(), trial.waitedSinceNanos);
    assertThat(loop.nanos()).as("a request waits though it is late").isLessThanOrEqualTo(due);
  }

  /** No request is taken from the line while one before it waits that may go to the same. */
  private void checkFirst(FlowRequest chosen) {
    var turns = settings.queue().turns();
    for (var trial : trials) {
      var other = trial.request;
      if (other.state() != State.WAITING) continue;
      if (!other.places().workers().equals(chosen.places().workers())) continue;
      int rank = turns.rank(other.routeRequest().sloClass());
      int ownRank = turns.rank(chosen.routeRequest().sloClass());
      assertThat(rank).as("a lower priority goes first").isGreaterThanOrEqualTo(ownRank);
      if (rank == ownRank && turns.order() == TurnRules.Order.DEADLINE) {
        assertThat(dueNanos(other)).isGreaterThanOrEqualTo(dueNanos(chosen));
      }
    }
  }

  private long dueNanos(FlowRequest request) {
    var target = settings.queue().turns().target(request.routeRequest().sloClass());
    return trial(request).arrivedNanos
        + (target.isZero() ? settings.queue().patience() : target).toNanos();
  }

  private Trial trial(FlowRequest request) {
    return trials.stream().filter(each -> each.request == request).findFirst().orElseThrow();
  }

  private int inFlightMax() {
    return settings.queue().inFlightMax();
  }

  /** One request, its caller and the wires to the workers. */
  private final class Trial implements RequestDriver {
    final FlowRequest request;
    final int outputTokens = 1 + random.nextInt(20);
    final List<Timer> legs = new ArrayList<>();
    final boolean isWhole = random.nextInt(4) == 0;
    int accepted;
    int refused;
    int closed;
    int answers;
    int tokens;
    int attempts;
    int placed;
    final Set<Integer> failedAt = new TreeSet<>();
    boolean isGone;
    boolean wasWaiting;
    long waitedSinceNanos = loop.nanos();
    final long arrivedNanos = loop.nanos();
    @Nullable Leg answering;

    /** Flag set if it is to be called back: nobody else is. */
    boolean isAwaiting;

    Trial(FlowCaller caller) {
      this.request = new FlowRequest(caller, this);
      if (random.nextInt(5) == 0) {
        loop.after(Duration.ofMillis(random.nextInt(200)), this::leave);
      }
    }

    private void leave() {
      if (closed > 0) return;
      isGone = true;
      sum.left++;
      stop();
      over(RequestEnd.of(Verdict.NONE));
    }

    @Override
    public void resume(Step step) {
      assertThat(isAwaiting).isTrue();
      isAwaiting = false;
      assertThat(step).isNotInstanceOf(Step.Local.class);
      follow(step);
    }

    void follow(Step step) {
      switch (step) {
        case Step.Send legs -> send(legs);
        case Step.Local.READ -> read();
        case Step.Local.WAIT -> isAwaiting = true;
        case Step.Local.NOTHING -> {}
        case Step.Refuse(var refusal) -> refuse(refusal);
      }
    }

    private void read() {
      accepted++;
      loop.after(Duration.ofNanos(random.nextInt(1_000_000)), this::submit);
    }

    private void submit() {
      var classes = SloClass.values();
      var sloClass =
          random.nextInt(3) > 0 ? SloClass.STANDARD : classes[random.nextInt(classes.length)];
      int promptTokens = random.nextInt(1, 4_000);
      Set<Need> needs = random.nextInt(4) == 0 ? Set.of(Need.TOOLS) : Set.of();
      var route = new RouteRequest("", promptTokens, List.of(), sloClass, List.of());
      boolean isSplittable = random.nextInt(4) > 0;
      var submission = new Submission("", route, isSplittable, isWhole, needs, 0);
      follow(flow.submit(request, submission));
    }

    private void send(Step.Send legs) {
      switch (legs) {
        case WHOLE -> send(Leg.WHOLE);
        case PREFILL -> send(Leg.PREFILL);
        case DECODE -> send(Leg.DECODE);
        case PREFILL_AND_DECODE -> {
          send(Leg.PREFILL);
          send(Leg.DECODE);
        }
      }
    }

    private void send(Leg leg) {
      assertThat(isGone || refused > 0 || closed > 0 || answers > 0).isFalse();
      if (leg == Leg.PREFILL || leg == Leg.WHOLE) noteAttempt(leg);
      if (leg != Leg.PREFILL) {
        assertThat(answering).isNull();
        answering = leg;
      }
      var placement = Objects.requireNonNull(request.route()).placement();
      if (request.attempts() > placed) checkPlaced(placement);
      int id = leg == Leg.PREFILL ? ((Offload) placement).prefill() : placement.decode();
      var mood = workers.entry(id).worker().mood;
      long nanos = random.nextInt(random.nextBoolean() ? 1 : 30_000_000);
      legs.add(loop.after(Duration.ofNanos(nanos), () -> outcome(leg, id, mood)));
    }

    /** A new attempt is for workers that are ready, and have not failed the request before. */
    private void checkPlaced(PrefillPlacement placement) {
      if (placed == 0) checkFirst(request);
      placed = request.attempts();
      var ids = new TreeSet<>(Set.of(placement.decode()));
      if (placement instanceof Offload offload) ids.add(offload.prefill());
      for (int id : ids) {
        assertThat(workers.entry(id).availability()).isEqualTo(Availability.READY);
      }
      assertThat(failedAt).doesNotContainAnyElementsOf(ids);
    }

    private void noteAttempt(Leg leg) {
      if (request.attempts() == attempts) sum.fellBack++;
      else if (attempts > 0) sum.retried++;
      attempts = request.attempts();
      assertThat(attempts).isLessThanOrEqualTo(settings.retries().attemptsMax());
      assertThat(leg).isNotEqualTo(Leg.DECODE);
    }

    private void outcome(Leg leg, int id, Mood mood) {
      switch (mood) {
        case GOOD, BREAKING -> succeed(leg, mood);
        case DEAD -> fail(leg, id, LegFailure.UNREACHABLE);
        case BUSY -> fail(leg, id, random.nextInt(3) == 0 ? LegFailure.UNABLE : LegFailure.BUSY);
        case FAILING ->
            fail(leg, id, random.nextInt(3) == 0 ? LegFailure.REQUEST_ERROR : LegFailure.ERROR);
        case STALLING -> legs.add(loop.after(STALL, () -> fail(leg, id, LegFailure.STALLED)));
      }
    }

    private void fail(Leg leg, int id, LegFailure kind) {
      // As a driver must: no failure of what has begun to go out.
      if (tokens > 0 || isGone) return;
      failedAt.add(id);
      // And nothing under way while the flow decides.
      answering = null;
      stop();
      follow(flow.failed(request, leg, kind, kind + " at " + leg));
    }

    private void succeed(Leg leg, Mood mood) {
      if (leg == Leg.PREFILL) follow(flow.prefilled(request));
      else if (isWhole) end(mood);
      else token(mood);
    }

    private void token(Mood mood) {
      if (tokens == 0) flow.firstToken(request);
      else flow.emitted(request, 1);
      tokens++;
      boolean isBreak = mood == Mood.BREAKING && random.nextInt(8) == 0;
      if (tokens == outputTokens || isBreak) {
        end(isBreak ? Mood.BREAKING : Mood.GOOD);
        return;
      }
      long nanos = random.nextInt(3_000_000);
      legs.add(loop.after(Duration.ofNanos(nanos), () -> token(mood)));
    }

    private void end(Mood mood) {
      answers++;
      sum.answered++;
      answering = null;
      stop();
      var verdict = mood == Mood.BREAKING ? Verdict.BROKEN : Verdict.ANSWERED;
      over(new RequestEnd(verdict, -1, -1, outputTokens));
    }

    private void stop() {
      for (var leg : legs) leg.cancel();
      legs.clear();
    }

    private void refuse(Refusal refusal) {
      assertThat(refused + answers + closed + tokens).isZero();
      assertThat(answering).isNull();
      refused++;
      sum.refused++;
      if (refusal.kind() == Refusal.Kind.QUEUE_FULL && wasWaiting) sum.displaced++;
      loop.after(Duration.ofNanos(random.nextInt(2_000_000)), this::onRefused);
    }

    private void onRefused() {
      over(RequestEnd.of(Verdict.NONE));
    }

    private void over(RequestEnd end) {
      flow.over(request, end);
      assertThat(request.state()).isEqualTo(State.OVER);
      if (closed > 0) return;
      closed = 1;
      // The second time counts for nothing.
      loop.execute(() -> flow.over(request, RequestEnd.of(Verdict.ANSWERED)));
    }

    boolean isBooked() {
      var route = request.route();
      return closed == 0 && route != null && !route.isClosed();
    }

    void check() {
      assertThat(answers + refused).isLessThanOrEqualTo(1);
      assertThat(closed > 0).isEqualTo(request.state() == State.OVER);
      assertThat(tokens).isLessThanOrEqualTo(outputTokens);
      if (closed > 0) assertThat(legs.isEmpty() || refused > 0).isTrue();
    }

    void checkOver() {
      assertThat(closed).isEqualTo(1);
      assertThat(answers == 1 || refused == 1 || isGone).isTrue();
      var route = request.route();
      if (route == null) return;
      assertThat(route.isClosed()).isTrue();
      if (tokens > 0) assertThat(route.written().emittedTokens()).isEqualTo(tokens - 1L);
    }
  }
}
