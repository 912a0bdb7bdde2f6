package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvSpan;
import java.util.ArrayList;
import java.util.List;

/**
 * The batch that a step is planned for: as it stands, or as it will stand when the step that runs
 * is over and every prediction held.
 *
 * <p>Looking ahead touches only what the running step changes beyond one token for everybody.
 */
final class PlannedBatch {
  private enum Time {
    NOW,
    AHEAD,
    /** Ahead, as if no sequence ended: what is free then is a lower bound. */
    AHEAD_CAUTIOUS
  }

  private final SchedulerState state;
  private final Time time;

  /** Number of sequences that get one token if all goes on. */
  final int decodes;

  /** Number of these that need another block for it. */
  final int atBorder;

  /** Those whose prompt is not computed yet, in the order of admission. */
  final List<Sequence> prefilling;

  /** Number of sequences in the batch. */
  final int running;

  /** Number of available blocks. */
  final int available;

  private PlannedBatch(SchedulerState state) {
    this.state = state;
    this.time = Time.NOW;
    this.decodes = state.decoding.size();
    this.atBorder = state.decoding.atBorder().size();
    this.prefilling = state.prefilling;
    this.running = state.running.size();
    this.available = state.kv.available();
  }

  private PlannedBatch(SchedulerState state, Batch batch, Time time) {
    this.state = state;
    this.time = time;
    var ended = state.decoding.nextEnded();
    var leaving = new ArrayList<KvSpan>(ended.size());
    int leavingAtBorder = 0;
    for (int i = 0; i < ended.size(); i++) {
      var sequence = ended.get(i);
      if (stays(sequence)) continue;
      leaving.add(state.blocks(sequence));
      if (isAtBorder(sequence)) leavingAtBorder++;
    }
    int decoding = state.decoding.size() - leaving.size();
    int border =
        batch.idle().isEmpty()
            ? state.decoding.nextAtBorder().size() - leavingAtBorder
            : nextAtBorder(batch);
    for (int i = 0; i < batch.parts().size(); i++) {
      var sequence = batch.parts().get(i).sequence();
      if (!decodes(sequence)) continue;
      if (stays(sequence)) {
        decoding++;
        border += isAtBorder(sequence) ? 1 : 0;
      } else {
        leaving.add(state.blocks(sequence));
      }
    }
    this.decodes = decoding;
    this.atBorder = border;
    this.prefilling = unfinished();
    this.running = state.running.size() - leaving.size();
    this.available = state.kv.available() + (leaving.isEmpty() ? 0 : state.kv.reclaimable(leaving));
  }

  /** Returns the number of sequences already decoding that will need another block. */
  private int nextAtBorder(Batch batch) {
    int border = 0;
    var next = state.decoding.nextAtBorder();
    for (int i = 0; i < next.size(); i++) {
      var sequence = next.get(i);
      if (!sequence.idle && stays(sequence)) border++;
    }
    for (var sequence : batch.idle()) border += isAtBorder(sequence) ? 1 : 0;
    return border;
  }

  /** Nothing runs. */
  static PlannedBatch now(SchedulerState state) {
    return new PlannedBatch(state);
  }

  /**
   * The batch runs: its tokens will be computed, and sequences that have all of them will leave.
   */
  static PlannedBatch after(SchedulerState state, Batch batch) {
    return new PlannedBatch(state, batch, Time.AHEAD);
  }

  /** The batch runs, its tokens will be computed, and no sequence will leave. */
  static PlannedBatch cautiouslyAfter(SchedulerState state, Batch batch) {
    return new PlannedBatch(state, batch, Time.AHEAD_CAUTIOUS);
  }

  /** Returns whether the step before is over, so that nothing is left to predict. */
  boolean isNow() {
    return time == Time.NOW;
  }

  int computed(Sequence sequence) {
    int computed = state.computed(sequence);
    if (time == Time.NOW) return computed;
    if (sequence.decoding) return sequence.idle ? computed : computed + 1;
    return computed + sequence.part;
  }

  /** Returns whether it gets one token, rather than a part of its prompt. */
  boolean decodes(Sequence sequence) {
    if (time == Time.NOW || sequence.decoding) return sequence.decoding;
    return computed(sequence) >= sequence.prefillTokens();
  }

  /** Returns whether it is part of the batch. */
  boolean stays(Sequence sequence) {
    return time != Time.AHEAD || !decodes(sequence) || computed(sequence) < sequence.endTokens();
  }

  /** The sequence that was admitted last. */
  @Nullable
  Sequence last() {
    var last = state.running.last();
    while (last != null && !stays(last)) last = last.before;
    return last;
  }

  private boolean isAtBorder(Sequence sequence) {
    return computed(sequence) % state.kv.blockTokens() == 0;
  }

  private List<Sequence> unfinished() {
    if (state.prefilling.isEmpty()) return List.of();
    List<Sequence> unfinished = List.of();
    for (int i = 0; i < state.prefilling.size(); i++) {
      var sequence = state.prefilling.get(i);
      if (decodes(sequence)) continue;
      if (unfinished.isEmpty()) unfinished = new ArrayList<>();
      unfinished.add(sequence);
    }
    return unfinished;
  }
}
