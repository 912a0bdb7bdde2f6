package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvStore;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Serves sequences step by step. Belongs to one loop.
 *
 * <p>Whatever is asked while a step runs changes the queue at once and the batch when the step is
 * over. Until then no block that the step may still write is released.
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
  private final Consumer<ModelBackend.StepResult> stepDone = this::stepDone;

  /** Sequences given up while a step may still write their blocks. */
  private final List<Sequence> leaving = new ArrayList<>();

  /** What was asked while a step ran and concerns more than the queue. */
  private final List<Runnable> commands = new ArrayList<>();

  /** Called when a pause is complete. */
  private final List<Runnable> pausing = new ArrayList<>();

  /** The batch that is planned or runs; its blocks may be written. */
  private @Nullable Batch executing;

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
    if (sequence.state() == Sequence.State.ENDED || leaving.contains(sequence)) return;
    plans.disturb();
    if (executing != null && sequence.state() == Sequence.State.RUNNING) {
      leaving.add(sequence);
    } else {
      end(sequence, new Sequence.End.Aborted());
      wake();
    }
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
          tellPaused();
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
    if (executing == null) command.run();
    else commands.add(command);
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
    if (executing != null || pause == PauseMode.KEEP) return;
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
      if (!batch.preempted().isEmpty()) tellPreempted(batch);
      boolean isOver = !batch.isEmpty() || !isRoomier;
      // A listener may just have paused the engine.
      if (isOver || pause == PauseMode.KEEP) return batch;
    }
  }

  private static void tellPreempted(Batch batch) {
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
    model.forward(batch, stepDone);
    plans.begin(batch);
  }

  private void stepDone(ModelBackend.StepResult result) {
    var batch = executing;
    if (batch == null) throw new IllegalStateException("a step is done, and none was running");
    executing = null;
    // What a failed row wrote must not be taken for computed.
    for (int i = 0; i < result.failed().size(); i++) {
      var failure = result.failed().get(i);
      endOnce(failure.sequence(), new Sequence.End.Failed(failure.reason()));
    }
    var end = scheduler.complete(batch);
    if (!end.isEmpty() || !result.isUnseen()) tell(end, result);
    if (!leaving.isEmpty()) {
      for (var sequence : leaving) endOnce(sequence, new Sequence.End.Aborted());
      leaving.clear();
    }
    obey();
    step();
  }

  private void tell(Scheduler.StepEnd end, ModelBackend.StepResult result) {
    for (int i = 0; i < end.prefilled().size(); i++) {
      var sequence = end.prefilled().get(i);
      var listener = sequence.listener;
      if (listener != null) listener.prefilled(sequence);
    }
    if (!result.sampled().isEmpty()) tellSampled(result);
    for (int i = 0; i < end.ended().size(); i++) {
      endOnce(end.ended().get(i), new Sequence.End.Finished());
    }
    for (int i = 0; i < result.stopped().size(); i++) {
      endOnce(result.stopped().get(i), new Sequence.End.Finished());
    }
  }

  private static void tellSampled(ModelBackend.StepResult result) {
    for (var sampled : result.sampled()) {
      var listener = sampled.sequence().listener;
      if (listener != null) listener.sampled(sampled.sequence(), sampled.token());
    }
  }

  /** What listeners and commands ask while no step runs is done at once. */
  private void obey() {
    if (commands.isEmpty()) return;
    var asked = List.copyOf(commands);
    commands.clear();
    for (var command : asked) command.run();
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
    tellPaused();
  }

  private void tellPaused() {
    if (pause != PauseMode.KEEP && !served.isEmpty()) return;
    answerPauses();
  }

  private void answerPauses() {
    if (pausing.isEmpty()) return;
    var asked = List.copyOf(pausing);
    pausing.clear();
    for (var done : asked) done.run();
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

  /** What becomes of an engine's work when it is paused. */
  public enum PauseMode {
    /** All of it is given up, and new work is refused. */
    ABORT,
    /** It goes on to its end, and new work is refused. */
    WAIT,
    /** It stands still and keeps its blocks; new work waits. */
    KEEP
  }

  /**
   * What an engine has to do right now.
   *
   * @param waiting sequences that are not in the batch yet
   * @param running sequences in the batch
   * @param blocksUsed blocks that somebody holds
   * @param preemptions how often a sequence had to make room so far
   * @param steps forward passes so far
   * @param planning how their plans were come by
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
