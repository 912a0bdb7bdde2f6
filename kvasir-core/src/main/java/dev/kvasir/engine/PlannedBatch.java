package dev.kvasir.engine;

import dev.kvasir.kv.KvSpan;
import java.util.ArrayList;

/**
 * The batch that a step is planned for, in numbers: as it stands, or as it will stand when the step
 * that runs is over and nothing unforeseen happened.
 *
 * @param running number of sequences in the batch
 * @param available number of available blocks
 * @param decodes number of sequences that get one token if all goes on
 * @param atBorder number of these that need another block for it
 * @param isAhead true if it is a prediction
 */
record PlannedBatch(int running, int available, int decodes, int atBorder, boolean isAhead) {
  /** Returns the batch as it stands while nothing runs. */
  static PlannedBatch now(SchedulerState state) {
    return new PlannedBatch(
        state.running.size(),
        state.kv.available(),
        state.decoding.size(),
        state.decoding.atBorder().size(),
        false);
  }

  /**
   * Predicts the batch after this one, which runs: its tokens will be computed, and sequences that
   * have all of them will leave.
   */
  static PlannedBatch after(SchedulerState state, Batch batch) {
    int blockTokens = state.kv.blockTokens();
    var leaving = new ArrayList<KvSpan>();
    int decodes = state.decoding.size();
    int atBorder = state.decoding.nextAtBorder().size();
    for (var sequence : state.decoding.nextEnded()) {
      leaving.add(state.blocks(sequence));
      decodes--;
      if ((state.computed(sequence) + 1) % blockTokens == 0) atBorder--;
    }
    for (var part : batch.parts()) {
      var sequence = part.sequence();
      int computed = part.start() + part.tokens();
      if (computed < sequence.prefillTokens()) continue;
      if (computed >= sequence.endTokens()) {
        leaving.add(state.blocks(sequence));
      } else {
        decodes++;
        if (computed % blockTokens == 0) atBorder++;
      }
    }
    int running = state.running.size() - leaving.size();
    int freed = leaving.isEmpty() ? 0 : state.kv.reclaimable(leaving);
    return new PlannedBatch(running, state.kv.available() + freed, decodes, atBorder, true);
  }
}
