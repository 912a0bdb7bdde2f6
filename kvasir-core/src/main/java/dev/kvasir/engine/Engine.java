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

/** Serves sequences step by step. Belongs to one loop. */
public final class Engine {
  private static final Duration RETRY_INTERVAL = Duration.ofMillis(1);

  private final EventLoop loop;
  private final KvStore kv;
  private final ModelBackend model;
  private final Scheduler scheduler;
  private final Map<Sequence, SequenceListener> listeners = new LinkedHashMap<>();

  /** Sequences given up while a step may still write their blocks. */
  private final List<Sequence> leaving = new ArrayList<>();

  private @Nullable Timer retry;
  private boolean executing;
  private boolean woken;
  private long steps;
  private long inputTokens;

  public Engine(EventLoop loop, KvStore kv, ModelBackend model, EngineSettings settings) {
    this.loop = loop;
    this.kv = kv;
    this.model = model;
    this.scheduler = new Scheduler(kv, settings, this::wake);
  }

  /** Takes a sequence on; the listener hears of a refusal before this returns. */
  public Sequence submit(SequenceRequest request, SequenceListener listener) {
    var refusal = scheduler.refusal(request);
    var sequence = scheduler.add(request);
    if (refusal != null) {
      scheduler.remove(sequence);
      listener.ended(sequence, new SequenceEnd.Refused(refusal));
      return sequence;
    }
    inputTokens += request.promptTokens();
    listeners.put(sequence, listener);
    wake();
    return sequence;
  }

  /** Gives a sequence up; its blocks are free as soon as no step can write them any more. */
  public void abort(Sequence sequence) {
    if (sequence.state() == Sequence.State.ENDED || leaving.contains(sequence)) return;
    if (executing && sequence.state() == Sequence.State.RUNNING) {
      leaving.add(sequence);
    } else {
      end(sequence, new SequenceEnd.Aborted());
      wake();
    }
  }

  /** Tokens of all prompts taken on. */
  public long inputTokens() {
    return inputTokens;
  }

  public EngineLoad load() {
    return new EngineLoad(
        scheduler.waiting(),
        scheduler.running(),
        kv.total() - kv.available(),
        kv.total(),
        kv.hitRate(),
        scheduler.preemptions(),
        steps);
  }

  private void wake() {
    if (executing || woken) return;
    woken = true;
    loop.execute(this::step);
  }

  private void step() {
    woken = false;
    if (executing) return;
    var batch = nextBatch();
    if (batch.isEmpty()) {
      if (isStarved() && retry == null) retry = loop.after(RETRY_INTERVAL, this::retry);
      return;
    }
    executing = true;
    steps++;
    for (var part : batch.admissions()) listener(part.sequence()).admitted(part.sequence());
    model.forward(batch, () -> stepDone(batch));
  }

  /** Those who wait do so for blocks that no sequence holds: copies on their way to a tier. */
  private boolean isStarved() {
    return scheduler.waiting() > 0 && scheduler.running() == 0 && scheduler.fetching() == 0;
  }

  private void retry() {
    retry = null;
    wake();
  }

  /** One who made room for itself alone leaves a plan without work, and somebody to plan for. */
  private Batch nextBatch() {
    while (true) {
      var batch = scheduler.schedule();
      for (var sequence : batch.preempted()) listener(sequence).preempted(sequence);
      if (!batch.isEmpty() || batch.preempted().isEmpty()) return batch;
    }
  }

  private void stepDone(Batch batch) {
    executing = false;
    var end = scheduler.complete(batch);
    for (var sequence : end.prefilled()) listener(sequence).prefilled(sequence);
    for (var sequence : end.ended()) end(sequence, new SequenceEnd.Finished());
    for (var sequence : leaving) {
      if (sequence.state() != Sequence.State.ENDED) end(sequence, new SequenceEnd.Aborted());
    }
    leaving.clear();
    step();
  }

  private void end(Sequence sequence, SequenceEnd how) {
    var listener = listener(sequence);
    scheduler.remove(sequence);
    listeners.remove(sequence);
    listener.ended(sequence, how);
  }

  private SequenceListener listener(Sequence sequence) {
    var listener = listeners.get(sequence);
    if (listener == null) throw new IllegalStateException(sequence + " is not served here");
    return listener;
  }
}
