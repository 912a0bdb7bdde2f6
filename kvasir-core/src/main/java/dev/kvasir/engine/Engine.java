package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvStore;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Serves sequences step by step. Belongs to one loop.
 *
 * <pre>
 *   executing ---landed | failed-----------------> over
 *       '-------launched--> flight ---landed | failed--^      meanwhile the next is executing
 * </pre>
 *
 * <p>Whatever is asked while a step is executing changes the queue at once and the batch when it is
 * launched or over. Until then no block that the step may still write is released; afterwards
 * whatever writes it next runs behind the step. What a step computed is there for others when it
 * has landed, and never if it fails.
 */
public final class Engine {
  private static final String PAUSED = "the engine is paused; resume it, or ask another one";

  private static final Duration RETRY_INTERVAL = Duration.ofMillis(1);

  private final EventLoop loop;
  private final KvStore kv;
  private final ModelBackend model;
  private final Scheduler scheduler;
  private final StepPlans plans;
  private final Served served = new Served();
  private final Consumer<ModelBackend.StepResult> stepListener = this::onStepResult;

  /** The ends of sequences, due when no step may write their blocks any more. */
  private final Map<Sequence, Sequence.End> leaving = new LinkedHashMap<>();

  /** The same for those whose step has failed: nothing of what was computed for them counts. */
  private final Map<Sequence, Sequence.End> failing = new LinkedHashMap<>();

  /** Commands that were given while a step ran and concern more than the queue. */
  private final List<Runnable> commands = new ArrayList<>();

  /** Called when a pause is complete. */
  private final List<Runnable> pausing = new ArrayList<>();

  /** The batch that is planned or runs; its blocks may be written. */
  private @Nullable Batch executing;

  /** The step that is launched and has neither landed nor failed. */
  private @Nullable Flight flight;

  private @Nullable PauseMode pause;
  private @Nullable Timer retry;
  private boolean woken;
  private long steps;
  private long inputTokens;

  /** An engine whose planning takes no time, or what the settings say. */
  public Engine(EventLoop loop, KvStore kv, ModelBackend model, EngineSettings settings) {
    this(loop, kv, model, settings, () -> 0);
  }

  /** An engine that measures its planning with a clock. */
  public Engine(
      EventLoop loop, KvStore kv, ModelBackend model, EngineSettings settings, LongSupplier nanos) {
    this.loop = loop;
    this.kv = kv;
    this.model = model;
    this.scheduler = new Scheduler(kv, settings, this::blocksArrived);
    this.plans = new StepPlans(loop, scheduler, settings, nanos);
  }

  /** Takes a sequence on; the listener hears of a refusal before this returns. */
  public Sequence submit(SequenceRequest request, SequenceListener listener) {
    var refusal = refusal(request);
    var sequence = scheduler.add(request);
    if (refusal != null) {
      scheduler.remove(sequence);
      listener.ended(sequence, new Sequence.End.Refused(refusal));
      return sequence;
    }
    inputTokens += request.promptTokens();
    served.add(sequence, listener);
    plans.arrived(sequence);
    wake();
    return sequence;
  }

  private @Nullable String refusal(SequenceRequest request) {
    return pause == null || pause == PauseMode.KEEP ? scheduler.refusal(request) : PAUSED;
  }

  /** Gives a sequence up; its blocks are free as soon as no step can write them any more. */
  public void abort(Sequence sequence) {
    if (isLeaving(sequence)) return;
    plans.disturb();
    if (mayBeWritten(sequence)) {
      leaving.put(sequence, new Sequence.End.Aborted());
    } else {
      end(sequence, new Sequence.End.Aborted());
      wake();
    }
  }

  private boolean isLeaving(Sequence sequence) {
    return switch (sequence.state()) {
      case LANDING, ENDED -> true;
      case WAITING, FETCHING, RUNNING ->
          leaving.containsKey(sequence) || failing.containsKey(sequence);
    };
  }

  /** Returns whether a step is executing that may compute for the sequence. */
  private boolean mayBeWritten(Sequence sequence) {
    return executing != null && sequence.state() == Sequence.State.RUNNING;
  }

  /**
   * Stops serving when no step runs any more; {@code done} is called once, when nothing moves: all
   * is given up, has ended, or stands still. A {@link #resume} that comes first calls it too. The
   * last of several pauses decides the mode.
   */
  public void pause(PauseMode mode, Runnable done) {
    command(
        () -> {
          pause = mode;
          pausing.add(done);
          if (mode == PauseMode.ABORT) served.all().forEach(this::abort);
          notifyPaused();
        });
  }

  /** Goes on after a pause. */
  public void resume() {
    command(
        () -> {
          pause = null;
          answerPauses();
          wake();
        });
  }

  public boolean isPaused() {
    return pause != null;
  }

  /**
   * Drops every cached block that is not held, between two steps.
   *
   * @param forget drops them in this engine's memory and returns how many there were
   */
  public void resetCache(IntSupplier forget, IntConsumer done) {
    command(() -> done.accept(forget.getAsInt()));
  }

  /** Tokens of all prompts taken on. */
  public long inputTokens() {
    return inputTokens;
  }

  /** The current load; reading it changes nothing. */
  public Load load() {
    return new Load(
        scheduler.waiting(),
        scheduler.running(),
        kv.total() - kv.available(),
        kv.total(),
        kv.hitRate(),
        scheduler.preemptions(),
        steps,
        plans.stats());
  }

  private void command(Runnable command) {
    plans.disturb();
    if (standsStill()) command.run();
    else commands.add(command);
  }

  private boolean standsStill() {
    return executing == null && flight == null;
  }

  private void blocksArrived() {
    plans.disturb();
    wake();
  }

  private void wake() {
    if (executing != null || woken) return;
    woken = true;
    loop.execute(this::step);
  }

  private void step() {
    woken = false;
    // What is asked of an engine that stands still comes before the next step.
    if (executing != null || pause == PauseMode.KEEP || !commands.isEmpty()) return;
    kv.expire();
    var batch = plan();
    if (batch.isEmpty()) {
      if (isStarved() && retry == null) retry = loop.after(RETRY_INTERVAL, this::retry);
      return;
    }
    steps++;
    for (int i = batch.parts().size() - batch.joined(); i < batch.parts().size(); i++) {
      var joined = batch.parts().get(i).sequence();
      listener(joined).admitted(joined);
    }
    long delay = plans.virtualDelayNanos();
    if (delay == 0) execute(batch);
    else loop.after(Duration.ofNanos(delay), () -> execute(batch));
  }

  /** A step in which somebody only made room is no step: the room is there for the next one. */
  private Batch plan() {
    while (true) {
      int before = scheduler.reserved();
      var batch = plans.next();
      boolean isRoomier = !batch.preempted().isEmpty() || scheduler.reserved() < before;
      // Its blocks are taken: what a listener asks for now must wait until the step is over.
      if (!batch.isEmpty()) executing = batch;
      if (!batch.preempted().isEmpty()) notifyPreempted(batch);
      boolean isOver = !batch.isEmpty() || !isRoomier;
      // A listener may just have paused the engine.
      if (isOver || pause == PauseMode.KEEP) return batch;
    }
  }

  private static void notifyPreempted(Batch batch) {
    for (var sequence : batch.preempted()) {
      var listener = sequence.listener;
      if (listener != null) listener.preempted(sequence);
    }
  }

  /** Waiting sequences need blocks that no sequence holds: copies on their way to a tier. */
  private boolean isStarved() {
    return scheduler.waiting() > 0 && scheduler.running() == 0 && scheduler.fetching() == 0;
  }

  private void retry() {
    retry = null;
    wake();
  }

  private void execute(Batch batch) {
    scheduler.start(batch);
    model.forward(batch, stepListener);
    plans.begin(batch);
  }

  private void onStepResult(ModelBackend.StepResult result) {
    switch (result) {
      case ModelBackend.StepResult.Launched _ -> launched();
      case ModelBackend.StepResult.Landed landed -> landed(landed);
      case ModelBackend.StepResult.Failed(String reason) -> failed(reason);
    }
  }

  private Batch removeExecuting() {
    var batch = executing;
    if (batch == null) throw new IllegalStateException("a step is told of, and none was running");
    executing = null;
    return batch;
  }

  private void launched() {
    var batch = removeExecuting();
    var sequences = sequences(batch);
    var end = scheduler.launch(batch);
    flight = new Flight(sequences, end);
    endAll(failing);
    for (int i = 0; i < end.ended().size(); i++) depart(end.ended().get(i));
    endAll(leaving);
    goOn();
  }

  private void depart(Sequence sequence) {
    if (sequence.state() == Sequence.State.ENDED) return;
    plans.disturb();
    scheduler.depart(sequence);
  }

  private void landed(ModelBackend.StepResult.Landed result) {
    var landing = flight;
    flight = null;
    if (landing == null) {
      landedAtOnce(result);
      return;
    }
    for (var failure : result.failed()) scheduler.spoil(failure.sequence());
    scheduler.land();
    for (var failure : result.failed()) fail(failure.sequence(), failure.reason());
    notifyStepEnd(landing.end, result);
    goOn();
  }

  /** A step has landed that was not launched ahead. */
  private void landedAtOnce(ModelBackend.StepResult.Landed result) {
    var batch = removeExecuting();
    endAll(failing);
    // What a failed row wrote must not be taken for computed.
    for (int i = 0; i < result.failed().size(); i++) {
      var failure = result.failed().get(i);
      fail(failure.sequence(), failure.reason());
    }
    var end = scheduler.complete(batch);
    if (!end.isEmpty() || !result.isUnseen()) notifyStepEnd(end, result);
    endAll(leaving);
    goOn();
  }

  /** Nobody of the step can go on, and nobody of one behind it: it may read what is void. */
  private void failed(String reason) {
    var failed = flight;
    flight = null;
    if (failed != null) {
      scheduler.fail();
      for (var sequence : failed.sequences) fail(sequence, reason);
      if (executing != null) for (var each : sequences(executing)) fail(each, reason);
    } else {
      var batch = removeExecuting();
      for (var sequence : sequences(batch)) fail(sequence, reason);
      endAll(failing);
      var _ = scheduler.complete(batch);
      endAll(leaving);
    }
    goOn();
  }

  private static List<Sequence> sequences(Batch batch) {
    var all = new ArrayList<Sequence>(batch.parts().size() + batch.decodes());
    for (var part : batch.parts()) all.add(part.sequence());
    for (var row : batch.rows()) all.add(row.sequence());
    return all;
  }

  /** One that has its last token, or was given up, ends as it would have; what it has is void. */
  private void fail(Sequence sequence, String reason) {
    if (sequence.state() == Sequence.State.ENDED) return;
    var end = leaving.remove(sequence);
    if (end == null) end = new Sequence.End.Failed(reason);
    scheduler.spoil(sequence);
    if (mayBeWritten(sequence)) failing.putIfAbsent(sequence, end);
    else endOnce(sequence, end);
  }

  private void goOn() {
    if (standsStill()) obey();
    step();
  }

  private void notifyStepEnd(Scheduler.StepEnd end, ModelBackend.StepResult.Landed result) {
    for (int i = 0; i < end.prefilled().size(); i++) {
      var sequence = end.prefilled().get(i);
      var listener = sequence.listener;
      if (listener != null) listener.prefilled(sequence);
    }
    if (!result.sampled().isEmpty()) notifySampled(result);
    for (int i = 0; i < end.ended().size(); i++) {
      endOnce(end.ended().get(i), new Sequence.End.Finished());
    }
    for (int i = 0; i < result.stopped().size(); i++) stop(result.stopped().get(i));
  }

  /** It has all its tokens, though a step that is executing computes one more for it. */
  private void stop(Sequence sequence) {
    if (!mayBeWritten(sequence)) endOnce(sequence, new Sequence.End.Finished());
    else if (!isLeaving(sequence)) leaving.put(sequence, new Sequence.End.Finished());
  }

  private static void notifySampled(ModelBackend.StepResult.Landed result) {
    for (var sampled : result.sampled()) {
      var listener = sampled.sequence().listener;
      if (listener != null) listener.sampled(sampled.sequence(), sampled.token());
    }
  }

  /**
   * Runs the commands that waited. What listeners and commands ask for while no step runs is done
   * at once.
   */
  private void obey() {
    if (commands.isEmpty()) return;
    var pending = List.copyOf(commands);
    commands.clear();
    for (var command : pending) command.run();
  }

  /** Ends those that had to wait for it. */
  private void endAll(Map<Sequence, Sequence.End> waiting) {
    if (waiting.isEmpty()) return;
    waiting.forEach(this::endOnce);
    waiting.clear();
  }

  private void endOnce(Sequence sequence, Sequence.End how) {
    if (sequence.state() == Sequence.State.ENDED) return;
    plans.disturb();
    end(sequence, how);
  }

  private void end(Sequence sequence, Sequence.End how) {
    var listener = listener(sequence);
    scheduler.remove(sequence);
    served.remove(sequence);
    listener.ended(sequence, how);
    notifyPaused();
  }

  private void notifyPaused() {
    if (pause != PauseMode.KEEP && !served.isEmpty()) return;
    answerPauses();
  }

  private void answerPauses() {
    if (pausing.isEmpty()) return;
    var pending = List.copyOf(pausing);
    pausing.clear();
    for (var done : pending) done.run();
  }

  private SequenceListener listener(Sequence sequence) {
    var listener = sequence.listener;
    if (listener == null) throw new IllegalStateException(sequence + " is not served here");
    return listener;
  }

  /** The sequences that are served, linked to each other, in the order in which they came. */
  private static final class Served {
    private @Nullable Sequence oldest;
    private @Nullable Sequence youngest;

    boolean isEmpty() {
      return oldest == null;
    }

    void add(Sequence sequence, SequenceListener listener) {
      sequence.listener = listener;
      sequence.older = youngest;
      if (youngest == null) oldest = sequence;
      else youngest.younger = sequence;
      youngest = sequence;
    }

    void remove(Sequence sequence) {
      var before = sequence.older;
      var behind = sequence.younger;
      if (before == null) oldest = behind;
      else before.younger = behind;
      if (behind == null) youngest = before;
      else behind.older = before;
      sequence.older = null;
      sequence.younger = null;
      sequence.listener = null;
    }

    List<Sequence> all() {
      var all = new ArrayList<Sequence>();
      for (var each = oldest; each != null; each = each.younger) all.add(each);
      return all;
    }
  }

  /**
   * A step that is launched.
   *
   * @param sequences those it computes for
   * @param end what it brings about when it lands
   */
  private record Flight(List<Sequence> sequences, Scheduler.StepEnd end) {}

  /** Treatment of an engine's work when the engine is paused. */
  public enum PauseMode {
    /** All of it is given up, and new work is refused. */
    ABORT,
    /** It goes on to its end, and new work is refused. */
    WAIT,
    /** It stands still and keeps its blocks; new work waits. */
    KEEP
  }

  /**
   * Work that an engine has right now.
   *
   * @param waiting sequences that are not in the batch yet
   * @param running sequences in the batch
   * @param blocksUsed blocks that somebody holds
   * @param preemptions number of times that a sequence had to make room so far
   * @param steps forward passes so far
   * @param planning statistics of how their plans were made
   */
  public record Load(
      int waiting,
      int running,
      int blocksUsed,
      int blocks,
      double hitRate,
      long preemptions,
      long steps,
      PlanningSettings.Stats planning) {
    public double kvUtilisation() {
      return (double) blocksUsed / blocks;
    }
  }
}
