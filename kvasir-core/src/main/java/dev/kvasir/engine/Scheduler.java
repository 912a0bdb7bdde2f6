package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Batch.Part;
import dev.kvasir.engine.Planner.Source;
import dev.kvasir.engine.ScheduleDecision.Admission;
import dev.kvasir.engine.ScheduleDecision.Chunk;
import dev.kvasir.engine.Sequence.State;
import dev.kvasir.kv.KvSpan;
import dev.kvasir.kv.KvStore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Chooses the tokens of each step: {@link #compute} only reads, {@link #apply} commits, {@link
 * #complete} books what the step has computed.
 *
 * <p>While a step runs the next one can be planned by {@link #foresee}, on what that step will
 * bring about, and put right by {@link #repair} when it has.
 */
public final class Scheduler {
  private static final Comparator<Sequence> BY_RANK = Comparator.comparingLong(each -> each.rank);

  private final SchedulerState state;
  private final KvStore kv;
  private final EngineSettings settings;
  private final Runnable ready;
  private long ranks;
  private long preemptions;
  private long unopened;

  /** A scheduler that calls {@code ready} when blocks that somebody waited for have come up. */
  public Scheduler(KvStore kv, EngineSettings settings, Runnable ready) {
    this.kv = kv;
    this.settings = settings;
    this.ready = ready;
    this.state = new SchedulerState(kv, settings);
  }

  /** Returns the reason why the request can never be served; null if it can. */
  public @Nullable String refusal(SequenceRequest request) {
    int prompt = request.promptTokens();
    long all = (long) prompt + request.outputTokensMax();
    int context = settings.contextTokensMax();
    if (context > 0 && (prompt >= context || all > context)) {
      return "%s prompt tokens and up to %s of output exceed the context of %s"
          .formatted(prompt, request.outputTokensMax(), context);
    }
    // A sequence that does not fit to its end would preempt itself again and again.
    long computed = (long) prompt + outputHeld(request);
    long blocks = Math.ceilDiv(computed, kv.blockTokens());
    if (blocks > kv.total()) {
      return "%s prompt tokens and up to %s of output take %s blocks, more than the %s of memory"
          .formatted(prompt, request.outputTokensMax(), blocks, kv.total());
    }
    return null;
  }

  /** Tokens of output that are computed when the last one is sampled. */
  private static int outputHeld(SequenceRequest request) {
    return Math.max(1, request.outputTokensMax()) - 1;
  }

  public Sequence add(SequenceRequest request) {
    var sequence = new Sequence(request, settings);
    state.waiting.add(sequence);
    return sequence;
  }

  /**
   * Takes the sequence out, wherever it stands, and gives its blocks back: those that are full when
   * a step on its way lands, when that is over.
   */
  public void remove(Sequence sequence) {
    int outputTokens = sampled(sequence);
    switch (sequence.state) {
      case WAITING -> {
        leaveQueue(sequence);
        state.reserved.remove(sequence);
      }
      case FETCHING -> state.fetching--;
      case RUNNING -> {
        leaveBatch(sequence);
      }
      case LANDING -> {}
      case ENDED -> throw new IllegalStateException(sequence + " is over already");
    }
    sequence.end(outputTokens, state.launched);
    sequence.state = State.ENDED;
  }

  /** A step of the sequence has failed: what steps compute for it counts no more. */
  void spoil(Sequence sequence) {
    sequence.spoilt = true;
    forgetLaunched(sequence);
  }

  private void forgetLaunched(Sequence sequence) {
    if (state.launched != null) state.launched.forget(sequence);
  }

  /** A sequence of which nothing is left to launch leaves the batch, and is over later. */
  void depart(Sequence sequence) {
    int outputTokens = sampled(sequence);
    leaveBatch(sequence);
    sequence.end(outputTokens, state.launched);
    sequence.state = State.LANDING;
  }

  /** Plans the next step without changing anything. */
  public ScheduleDecision compute() {
    state.work.look();
    return state.isSteady() ? ScheduleDecision.STEADY : computeInFull();
  }

  /** Plans the same, however little the step changes. */
  ScheduleDecision computeInFull() {
    return planner(Source.MEMORY).planRunning().planAdmissions().decision();
  }

  private Planner planner(Source source) {
    return new Planner(state, PlannedBatch.now(state), source);
  }

  /** Plans the step after the one that runs the batch, without changing anything. */
  PreSchedule foresee(Batch batch) {
    state.work.look(1 + batch.changes());
    state.matches.begin();
    if (state.waiting.size() == 0) return PreSchedule.steady(state);
    return new Planner(state, PlannedBatch.after(state, batch), Source.KEPT).planAhead();
  }

  /** Looks up what is cached of a sequence that came while a plan was made or after it. */
  void prepare(Sequence sequence) {
    // Those far behind have time until they are considered.
    if (sequence.state != State.WAITING || state.waiting.size() > settings.sequencesMax()) return;
    var _ = state.matches.of(sequence, state.matchableBlocks(sequence));
  }

  /**
   * Decides what {@link #compute} would decide, with the help of a plan that was made ahead,
   * without changing anything in the batch, the queue or the memory.
   *
   * <p>The plan decides who joins, if all that this rests on is as it was foreseen. If not, those
   * that wait are gone through again, and only those are looked up in the memory of whom something
   * changed. A plan that was made for another step or by another scheduler is worth nothing.
   */
  Repaired repair(PreSchedule ahead) {
    if (!ahead.isFor(state)) return recomputed();
    state.work.look();
    if (state.isSteady()) return Repaired.of(ScheduleDecision.STEADY, ahead.decision());
    var planner = planner(Source.KEPT).planRunning();
    var decision = planner.planAdmissions(ahead);
    return planner.isPressed()
        ? new Repaired(decision, Repaired.Outcome.RECOMPUTED)
        : Repaired.of(decision, ahead.decision());
  }

  /** Plans the next step anew, where a plan was made ahead in vain. */
  Repaired recomputed() {
    return new Repaired(compute(), Repaired.Outcome.RECOMPUTED);
  }

  /**
   * Returns the amount of planning since the last call: the sequences that plans looked at, counted
   * where they do so.
   */
  public long drainWork() {
    return state.work.drain();
  }

  /** Plans the next step and commits to it. */
  public Batch schedule() {
    return apply(compute());
  }

  /**
   * Takes the blocks that the decision needs, and says what to compute. A decision that counts on
   * cached blocks that are gone is made again.
   */
  public Batch apply(ScheduleDecision decision) {
    if (decision.changes() == 0) return applySteady(decision);
    // What is cached must be held before anything is taken, or it could be evicted for it.
    var spans = open(decision.admissions());
    if (spans != null) return apply(decision, spans);
    unopened++;
    var again = compute();
    spans = open(again.admissions());
    if (spans == null) throw new IllegalStateException("blocks are gone of " + again.admissions());
    return apply(again, spans);
  }

  private Batch apply(ScheduleDecision decision, KvSpan[] spans) {
    state.applied++;
    if (!decision.givenUp().isEmpty()) for (var each : decision.givenUp()) giveUp(each);
    if (!decision.preempted().isEmpty()) preempt(decision.preempted());
    var admissions = decision.admissions();
    var idle = decision.idle();
    int decodes = state.decoding.size() - idle.size();
    long context = state.decoding.contextTokens();
    for (int i = 0; i < idle.size(); i++) context -= state.computed(idle.get(i));
    var parts = grow(decision.chunks(), idle);
    for (int i = 0; i < spans.length; i++) parts.add(join(admissions.get(i), spans[i]));
    state.blocked = decision.blocked();
    if (!decision.fetches().isEmpty()) for (var each : decision.fetches()) fetch(each);
    for (var each : decision.overtaken()) each.sequence().overtaken += each.times();
    var batch =
        new Batch(parts, spans.length, decision.preempted(), idle, decodes, context, state.rows);
    // An empty batch is never run, so no sequence is left out of it.
    if (!idle.isEmpty() && !batch.isEmpty()) for (var sequence : idle) sequence.idle = true;
    return batch;
  }

  private Batch applySteady(ScheduleDecision decision) {
    state.applied++;
    state.decoding.reserve();
    state.blocked = decision.blocked();
    int decodes = state.decoding.size();
    long context = state.decoding.contextTokens();
    return new Batch(List.of(), 0, List.of(), List.of(), decodes, context, state.rows);
  }

  /** The model begins with the batch: the blocks that it fills are being computed. */
  public void start(Batch batch) {
    if (!batch.parts().isEmpty()) {
      for (int i = 0; i < batch.parts().size(); i++) {
        batch.parts().get(i).sequence().blocks().start();
      }
    }
    state.decoding.start();
  }

  /**
   * Books a step that has landed: its tokens are computed. Sequences that have ended are removed
   * later.
   */
  public StepEnd complete(Batch batch) {
    if (state.launched != null) throw new IllegalStateException("a step lands before another");
    return advance(batch);
  }

  /**
   * Books a step that is on its way: its tokens count as computed for the sequences that they
   * belong to, and its blocks are full when it lands.
   */
  public StepEnd launch(Batch batch) {
    if (state.launched != null) throw new IllegalStateException("two steps are on their way");
    // Blocks that are counted together could not be told from those of a step that fails.
    state.decoding.partForGood();
    state.launched = new LaunchedStep();
    return advance(batch);
  }

  /** The step on its way has landed. */
  public void land() {
    removeLaunched().land();
  }

  /** The step on its way has failed: all of its sequences are to be spoilt and removed. */
  public void fail() {
    removeLaunched().fail();
  }

  private LaunchedStep removeLaunched() {
    var step = state.launched;
    if (step == null) throw new IllegalStateException("a step is over, and none was on its way");
    state.launched = null;
    return step;
  }

  private StepEnd advance(Batch batch) {
    var step = state.launched;
    state.completed = state.applied;
    if (batch.idle().isEmpty()) state.decoding.advance();
    else state.decoding.advance(stillIdle(batch));
    if (step == null) state.decoding.fill();
    else state.decoding.fill(step);
    var ended = state.decoding.ended();
    if (batch.parts().isEmpty()) {
      return ended.isEmpty() ? StepEnd.EMPTY : new StepEnd(List.of(), ended);
    }
    var prefilled = new ArrayList<Sequence>(1);
    var all = ended.isEmpty() ? new ArrayList<Sequence>(1) : new ArrayList<>(ended);
    for (int i = 0; i < batch.parts().size(); i++) {
      var part = batch.parts().get(i);
      var sequence = part.sequence();
      if (sequence.state != State.RUNNING) continue;
      sequence.part = 0;
      sequence.computed = part.start() + part.tokens();
      if (step == null) sequence.blocks().fill(sequence.computed);
      else step.fill(sequence, sequence.computed);
      if (sequence.computed < sequence.prefillTokens()) continue;
      state.prefilling.remove(sequence);
      prefilled.add(sequence);
      if (sequence.computed >= sequence.endTokens()) all.add(sequence);
      state.decoding.add(sequence);
    }
    if (all.size() > 1) all.sort(BY_RANK);
    return new StepEnd(prefilled, all);
  }

  /** The idle sequences that are still part of the batch; their idleness is over. */
  private static List<Sequence> stillIdle(Batch batch) {
    var idle = new ArrayList<Sequence>(batch.idle().size());
    for (var sequence : batch.idle()) {
      if (sequence.idle) idle.add(sequence);
      sequence.idle = false;
    }
    return idle;
  }

  public int waiting() {
    return state.waiting.size() + state.fetching;
  }

  public int running() {
    return state.running.size();
  }

  /** Sequences whose blocks are on their way up. */
  public int fetching() {
    return state.fetching;
  }

  /** Waiting sequences that hold blocks which were fetched for them. */
  public int reserved() {
    return state.reserved.size();
  }

  /** Returns the number of times that a sequence had to make room. */
  public long preemptions() {
    return preemptions;
  }

  /** Returns how many decisions were made again, because they counted on blocks that were gone. */
  long unopened() {
    return unopened;
  }

  /** Returns the number of the sequence's tokens that are computed. */
  public int computed(Sequence sequence) {
    return state.computed(sequence);
  }

  /** Blocks for those that run, in the order of admission. */
  private List<Part> grow(List<Chunk> chunks, List<Sequence> idle) {
    if (!idle.isEmpty()) state.decoding.part();
    if (chunks.isEmpty() && idle.isEmpty()) {
      state.decoding.reserve();
      return new ArrayList<>(1);
    }
    var parts = new ArrayList<Part>(chunks.size());
    int next = 0;
    for (var sequence : state.decoding.atBorder()) {
      while (next < chunks.size() && chunks.get(next).sequence().rank < sequence.rank) {
        parts.add(grow(chunks.get(next++)));
      }
      if (idle.isEmpty() || !idle.contains(sequence)) state.decoding.reserve(sequence);
    }
    state.decoding.reserved();
    while (next < chunks.size()) parts.add(grow(chunks.get(next++)));
    return parts;
  }

  private Part grow(Chunk chunk) {
    var sequence = chunk.sequence();
    sequence.blocks().reserve(sequence.computed + chunk.tokens());
    sequence.part = chunk.tokens();
    return new Part(sequence, sequence.computed, chunk.tokens());
  }

  /** Holds what is cached of all of them, or, if some of it is gone, nothing. */
  private KvSpan @Nullable [] open(List<Admission> admissions) {
    var spans = new KvSpan[admissions.size()];
    for (int i = 0; i < spans.length; i++) {
      var span = open(admissions.get(i));
      if (span == null) {
        close(admissions, spans, i);
        return null;
      }
      spans[i] = span;
    }
    return spans;
  }

  private static void close(List<Admission> admissions, KvSpan[] spans, int count) {
    for (int i = 0; i < count; i++) {
      if (admissions.get(i).sequence().span == null) spans[i].release();
    }
  }

  private @Nullable KvSpan open(Admission admission) {
    var sequence = admission.sequence();
    if (sequence.span != null) return sequence.span;
    return kv.open(sequence.request().names(), admission.cachedBlocks());
  }

  private Part join(Admission admission, KvSpan span) {
    var sequence = admission.sequence();
    leaveQueue(sequence);
    state.reserved.remove(sequence);
    int start = state.start(sequence, admission.cachedBlocks());
    sequence.admit(ranks++, span, start);
    sequence.part = admission.tokens();
    state.running.add(sequence);
    state.prefilling.add(sequence);
    span.reserve(start + admission.tokens());
    return new Part(sequence, start, admission.tokens());
  }

  private void giveUp(Sequence sequence) {
    sequence.blocks().release();
    sequence.span = null;
    sequence.fetched = false;
    state.reserved.remove(sequence);
  }

  private void preempt(List<Sequence> victims) {
    for (var victim : victims) {
      if (victim.state == State.RUNNING) preempt(victim);
    }
  }

  private void preempt(Sequence sequence) {
    int sampled = sampled(sequence);
    leaveBatch(sequence);
    forgetLaunched(sequence);
    sequence.preempt(sampled);
    state.waiting.addFirst(sequence);
    preemptions++;
  }

  /** Returns the number of output tokens that are known. */
  private int sampled(Sequence sequence) {
    if (!sequence.decoding) return sequence.kept;
    return state.computed(sequence) - sequence.request().promptTokens() + 1;
  }

  private void leaveQueue(Sequence sequence) {
    state.waiting.remove(sequence);
    sequence.match = null;
  }

  private void leaveBatch(Sequence sequence) {
    if (sequence.decoding) state.decoding.remove(sequence);
    else state.prefilling.remove(sequence);
    state.running.remove(sequence);
  }

  private void fetch(Sequence sequence) {
    var names = sequence.request().names();
    int blocksMax = Math.max(0, sequence.prefillTokens() - 1) / kv.blockTokens();
    var match = kv.match(names, blocksMax);
    leaveQueue(sequence);
    sequence.state = State.FETCHING;
    sequence.overtaken = 0;
    state.fetching++;
    kv.fetching().fetch(names, match.blocks() + match.below(), span -> arrive(sequence, span));
  }

  private void arrive(Sequence sequence, KvSpan span) {
    if (sequence.state != State.FETCHING) {
      span.release();
      return;
    }
    state.fetching--;
    sequence.span = span;
    sequence.fetched = true;
    sequence.state = State.WAITING;
    state.waiting.putBack(sequence);
    state.reserved.add(sequence);
    ready.run();
  }

  /**
   * Result of a step.
   *
   * @param prefilled sequences whose prompt is computed, so that they got a token
   * @param ended sequences that have all their tokens; they still hold their blocks
   */
  public record StepEnd(List<Sequence> prefilled, List<Sequence> ended) {
    private static final StepEnd EMPTY = new StepEnd(List.of(), List.of());

    boolean isEmpty() {
      return prefilled.isEmpty() && ended.isEmpty();
    }
  }

  /**
   * A decision that a plan made ahead has helped to make.
   *
   * @param decision what a new plan would decide
   * @param outcome what had to be done for it
   */
  record Repaired(ScheduleDecision decision, Outcome outcome) {
    private static Repaired of(ScheduleDecision decision, ScheduleDecision ahead) {
      return new Repaired(decision, decision.isSame(ahead) ? Outcome.CLEAN : Outcome.REPAIRED);
    }

    /** Change that a plan needed. */
    enum Outcome {
      /** Nothing. */
      CLEAN,
      /** It was changed where something came otherwise. */
      REPAIRED,
      /** The batch was gone through again. */
      RECOMPUTED
    }
  }
}
