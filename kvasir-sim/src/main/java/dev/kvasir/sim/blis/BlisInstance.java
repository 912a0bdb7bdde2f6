package dev.kvasir.sim.blis;

import dev.kvasir.engine.Batch;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.engine.Scheduler;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceRequest;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * One engine driven as BLIS drives it, on our own scheduler.
 *
 * <p>A step's outcome is known when it begins: requests that it finishes leave at once, and only
 * the next step waits until it is over.
 */
final class BlisInstance {
  private static final Scheduler.StepEnd NOTHING_COMPUTED =
      new Scheduler.StepEnd(List.of(), List.of());

  private final int index;
  private final BlisSettings settings;
  private final LatencyModel latency;
  private final BlisStore store;
  private final Scheduler scheduler;
  private final Lanes lanes;
  private final BiConsumer<Tracked, Long> left;
  private final Map<Sequence, Tracked> tracked = new LinkedHashMap<>();
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
    this.scheduler = new Scheduler(store, settings.engine(), () -> {});
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
    long arrivalNanos = request.arrivalNanos();
    int priority = SloClass.of(request.caller().sloClass()).queuePriority();
    // Tenants share blocks there.
    var names = ContentNames.of(request.content(), settings.blockTokens(), 0);
    var asked =
        new SequenceRequest(
            request.id(),
            names,
            request.promptTokens(),
            request.outputTokens(),
            priority,
            arrivalNanos);
    if (scheduler.refusal(asked) != null) {
      leave(tracking, RequestEnding.DROPPED, nowMicros());
      return;
    }
    inputTokens += request.promptTokens();
    long deadline = request.deadlineNanos() / 1000;
    if (deadline > 0 && deadline <= nowMicros()) {
      leave(tracking, RequestEnding.TIMED_OUT, nowMicros());
      return;
    }
    var sequence = scheduler.add(asked);
    tracking.sequence = sequence;
    tracked.put(sequence, tracking);
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
    var batch = scheduler.schedule();
    for (var part : batch.admissions()) admitted(part, now);
    long advance = latency.stepMicros(shape(batch));
    busyMicros += advance;
    log.add(advance + latency.outputTokenMicros());
    for (var sequence : batch.idle()) skip(tracking(sequence), advance);
    // A step can compute nothing: the first in line made room for itself, and the others wait.
    var end = batch.isEmpty() ? NOTHING_COMPUTED : scheduler.complete(batch);
    for (var sequence : end.prefilled()) firstToken(tracking(sequence), now + advance);
    for (var sequence : end.ended()) complete(sequence, now + advance);
    if (scheduler.running() > 0 || scheduler.waiting() > 0) {
      lanes.step.after(micros(advance), this::step);
    } else {
      stepDue = false;
    }
  }

  private static StepShape shape(Batch batch) {
    var prefills = new ArrayList<StepShape.Prefill>();
    int joining = batch.parts().size() - batch.joined();
    for (int i = 0; i < batch.parts().size(); i++) {
      var part = batch.parts().get(i);
      if (part.tokens() == 0) continue;
      // In its first step a request counts as if nothing of it were cached.
      int computed = i < joining ? part.start() : 0;
      int prompt = part.sequence().request().promptTokens();
      prefills.add(new StepShape.Prefill(part.tokens(), computed, prompt));
    }
    return new StepShape(prefills, batch.decodes(), batch.decodeContextTokens());
  }

  private void admitted(Batch.Part part, long now) {
    var request = tracking(part.sequence());
    request.schedulingMicros = now - request.arrivalMicros;
    request.cachedTokens = part.start();
    request.cached = part.sequence().cached();
    // A preempted request keeps what was noted until it has another first token.
    if (settings.edition() == Edition.CURRENT) request.hasFirstToken = false;
    span(part.sequence()).endPromptAt(request.request.promptTokens());
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

  private void complete(Sequence sequence, long endMicros) {
    var request = tracking(sequence);
    int computed = scheduler.computed(sequence);
    int wanted = request.request.outputTokens();
    request.gaps = computed - request.request.promptTokens();
    request.outputTokens = Math.min(request.gaps + 1, wanted);
    if (wanted > 0 && computed < request.request.promptTokens() + wanted) {
      if (!span(sequence).addLast(computed)) allocationFailures++;
    }
    request.gapMicros = log.sumMicros() - request.gapsBefore - request.skippedMicros;
    log.count(request.firstStep, log.steps());
    request.skippedSteps.forEach(log::except);
    long after = wanted > 0 ? latency.afterDecodeMicros() : 0;
    request.e2eMicros = request.ttftMicros + request.gapMicros + after;
    scheduler.remove(sequence);
    // Leaving is an event of its own, which a run that is over does not get to.
    if (endMicros <= settings.horizonMicros()) clockMicros = Math.max(clockMicros, endMicros);
    leave(request, RequestEnding.COMPLETED, endMicros);
  }

  private static BlisSpan span(Sequence sequence) {
    return (BlisSpan) sequence.blocks();
  }

  private void timeOut(Tracked request) {
    if (request.ending != RequestEnding.UNFINISHED || request.sequence == null) return;
    tick();
    scheduler.remove(request.sequence);
    leave(request, RequestEnding.TIMED_OUT, nowMicros());
  }

  private void leave(Tracked request, RequestEnding ending, long micros) {
    request.ending = ending;
    if (request.sequence != null) tracked.remove(request.sequence);
    left.accept(request, micros);
  }

  private Tracked tracking(Sequence sequence) {
    var found = tracked.get(sequence);
    if (found == null) throw new IllegalStateException(sequence + " is not known here");
    return found;
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
