package dev.kvasir.sim.blis;

import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.blis.BlisSettings.Edition;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.StepShape;
import dev.kvasir.sim.result.InstanceResult;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * One engine driven as BLIS drives it.
 *
 * <p>A step's outcome is known when it begins: requests that it finishes leave at once, and only
 * the next step waits until it is over.
 */
final class BlisInstance {
  private final int index;
  private final BlisSettings settings;
  private final LatencyModel latency;
  private final BlisStore store;
  private final BlisScheduler scheduler;
  private final Lanes lanes;
  private final BiConsumer<Tracked, Long> left;
  private final StepLog log = new StepLog();
  private boolean stepDue;
  private long clockMicros;
  private long busyMicros;
  private long allocationFailures;
  private long inputTokens;

  /** The lanes of one instance's events, in the order in which those of one time happen. */
  private record Lanes(EventLoop arrival, EventLoop queued, EventLoop step, EventLoop timeout) {
    static Lanes of(VirtualLoop loop, int index) {
      int base = 10 * (index + 1);
      return new Lanes(
          loop.lane(base), loop.lane(base + 1), loop.lane(base + 3), loop.lane(base + 6));
    }
  }

  BlisInstance(
      int index,
      BlisSettings settings,
      LatencyModel latency,
      VirtualLoop loop,
      BiConsumer<Tracked, Long> left) {
    this.index = index;
    this.settings = settings;
    this.latency = latency;
    this.left = left;
    this.store = new BlisStore(settings.blocks(), settings.blockTokens());
    this.scheduler = new BlisScheduler(store, settings.engine());
    this.lanes = Lanes.of(loop, index);
  }

  void arrive(Tracked request) {
    request.instance = index;
    lanes.arrival.execute(
        () -> {
          tick();
          long wait = latency.queueingMicros(request.request.promptTokens());
          lanes.queued.after(micros(wait), () -> enqueue(request));
        });
  }

  private void enqueue(Tracked tracking) {
    tick();
    var request = tracking.request;
    int priority = SloClass.of(request.caller().sloClass()).queuePriority();
    // Tenants share blocks there.
    var names = ContentNames.of(request.content(), settings.blockTokens(), 0);
    if (scheduler.refuses(tracking)) {
      leave(tracking, RequestEnding.DROPPED, nowMicros());
      return;
    }
    inputTokens += request.promptTokens();
    long deadline = request.deadlineNanos() / 1000;
    if (deadline > 0 && deadline <= nowMicros()) {
      leave(tracking, RequestEnding.TIMED_OUT, nowMicros());
      return;
    }
    tracking.row = scheduler.add(tracking, names, priority);
    if (deadline > 0 && deadline <= settings.horizonMicros()) {
      lanes.timeout.after(micros(deadline - nowMicros()), () -> timeOut(tracking));
    }
    if (!stepDue) {
      stepDue = true;
      lanes.step.execute(this::step);
    }
  }

  private void step() {
    tick();
    if (scheduler.running() == 0 && scheduler.waiting() == 0) {
      stepDue = false;
      return;
    }
    long now = nowMicros();
    var step = scheduler.schedule();
    for (int place = step.joining(); place < step.rows().size(); place++) {
      admitted(step.rows().get(place), now);
    }
    long advance = latency.stepMicros(shape(step));
    busyMicros += advance;
    log.add(advance + latency.outputTokenMicros());
    for (var row : step.rows()) {
      if (row.isDecoding() && row.tokens() == 0) skip(row.tracked, advance);
    }
    for (var row : scheduler.complete(step)) firstToken(row.tracked, now + advance);
    for (var row : step.rows()) {
      if (row.isOver()) complete(row, now + advance);
    }
    if (scheduler.running() > 0 || scheduler.waiting() > 0) {
      lanes.step.after(micros(advance), this::step);
    } else {
      stepDue = false;
    }
  }

  private static StepShape shape(BlisScheduler.Step step) {
    var prefills = new ArrayList<StepShape.Prefill>();
    int decodes = 0;
    long context = 0;
    for (int place = 0; place < step.rows().size(); place++) {
      var row = step.rows().get(place);
      if (row.tokens() == 0) continue;
      if (row.isDecoding()) {
        decodes++;
        context += row.computed();
      } else {
        // In its first step a request counts as if nothing of it were cached.
        int computed = step.isJoining(place) ? 0 : row.computed();
        prefills.add(new StepShape.Prefill(row.tokens(), computed, row.promptTokens()));
      }
    }
    return new StepShape(prefills, decodes, context);
  }

  private void admitted(BlisScheduler.Row row, long now) {
    var request = row.tracked;
    request.schedulingMicros = now - request.arrivalMicros;
    request.cachedTokens = row.computed();
    request.cached = row.span().cached();
    // A preempted request keeps what was noted until it has another first token.
    if (settings.edition() == Edition.CURRENT) request.hasFirstToken = false;
  }

  private void skip(Tracked request, long advance) {
    request.skippedMicros += advance + latency.outputTokenMicros();
    request.skippedSteps.add(log.steps() - 1);
  }

  private void firstToken(Tracked request, long micros) {
    request.gapsBefore = log.sumMicros();
    request.firstStep = log.steps();
    request.skippedMicros = 0;
    request.skippedSteps.clear();
    if (request.hasFirstToken) return;
    request.hasFirstToken = true;
    request.ttftMicros = micros + latency.outputTokenMicros() - request.arrivalMicros;
  }

  private void complete(BlisScheduler.Row row, long endMicros) {
    var request = row.tracked;
    int computed = row.computed();
    int wanted = request.request.outputTokens();
    request.gaps = computed - request.request.promptTokens();
    request.outputTokens = Math.min(request.gaps + 1, wanted);
    if (wanted > 0 && computed < request.request.promptTokens() + wanted) {
      if (!row.span().addLast(computed)) allocationFailures++;
    }
    request.gapMicros = log.sumMicros() - request.gapsBefore - request.skippedMicros;
    log.count(request.firstStep, log.steps());
    request.skippedSteps.forEach(log::except);
    long after = wanted > 0 ? latency.afterDecodeMicros() : 0;
    request.e2eMicros = request.ttftMicros + request.gapMicros + after;
    scheduler.remove(row);
    // Leaving is an event of its own, which a run that is over does not get to.
    if (endMicros <= settings.horizonMicros()) clockMicros = Math.max(clockMicros, endMicros);
    leave(request, RequestEnding.COMPLETED, endMicros);
  }

  private void timeOut(Tracked request) {
    var row = request.row;
    if (request.ending != RequestEnding.UNFINISHED || row == null) return;
    tick();
    scheduler.remove(row);
    leave(request, RequestEnding.TIMED_OUT, nowMicros());
  }

  private void leave(Tracked request, RequestEnding ending, long micros) {
    request.ending = ending;
    left.accept(request, micros);
  }

  private void tick() {
    clockMicros = Math.max(clockMicros, nowMicros());
  }

  private long nowMicros() {
    return lanes.step.nanos() / 1000;
  }

  private static Duration micros(long micros) {
    return Duration.ofNanos(Math.multiplyExact(micros, 1000));
  }

  BlisStore store() {
    return store;
  }

  EngineSignals signals() {
    double used = (double) (store.total() - store.available()) / store.total();
    return EngineSignals.of(scheduler.waiting(), scheduler.running(), used);
  }

  /** When the last thing happened here. */
  long clockMicros() {
    return clockMicros;
  }

  InstanceResult result() {
    return new InstanceResult(
        Role.BOTH,
        scheduler.waiting(),
        scheduler.running(),
        scheduler.preemptions(),
        log.steps(),
        busyMicros,
        inputTokens,
        store.hits(),
        store.misses(),
        allocationFailures,
        log.gaps(),
        List.of(),
        PlanningSettings.Stats.NONE,
        InstanceResult.ALWAYS);
  }
}
