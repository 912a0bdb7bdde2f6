package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvSpan;
import dev.kvasir.kv.KvStore;
import java.util.ArrayList;
import java.util.List;

/**
 * Everything a plan for the next step is made from: the memory, and the waiting and running
 * sequences.
 */
final class SchedulerState {
  final KvStore kv;
  final EngineSettings settings;
  final WaitQueue waiting;
  final RunningList running = new RunningList();

  /** Running sequences whose prompt is not computed yet, in the order of admission. */
  final List<Sequence> prefilling = new ArrayList<>();

  final DecodeRing decoding;

  /** Waiting sequences that hold blocks which were fetched for them, oldest first. */
  final List<Sequence> reserved = new ArrayList<>();

  /** The sequences of the batch that get a token, for the model that computes them. */
  final Batch.DecodeRows rows = new Batch.DecodeRows(this);

  final PlanningWork work = new PlanningWork();

  /** Matches that are known of the waiting sequences, for plans that are made ahead. */
  final PrefixMatches matches;

  /** The step that is on its way behind the one that is planned; null where none is. */
  @Nullable LaunchedStep launched;

  ScheduleDecision.@Nullable Blocked blocked;
  int fetching;

  /** Number of decisions applied, and the number of the last one that was completed. */
  long applied;

  long completed;

  SchedulerState(KvStore kv, EngineSettings settings) {
    this.kv = kv;
    this.settings = settings;
    this.waiting = settings.order().open();
    this.decoding = new DecodeRing(kv.blockTokens());
    this.matches = new PrefixMatches(kv, work);
  }

  /** Returns whether all that run decode and get their next token, and nobody waits. */
  boolean isSteady() {
    return waiting.size() == 0
        && prefilling.isEmpty()
        && decoding.size() <= settings.stepTokensMax()
        && decoding.atBorder().size() <= kv.available();
  }

  /** The blocks that hold a sequence, which say how many they are. */
  KvSpan blocks(Sequence sequence) {
    decoding.settle(sequence);
    return sequence.blocks();
  }

  int computed(Sequence sequence) {
    return sequence.decoding ? decoding.computed(sequence) : sequence.computed;
  }

  /** Up to where nothing is left to compute for a sequence that joins with these cached blocks. */
  int start(Sequence sequence, int cachedBlocks) {
    int cached = cachedBlocks * kv.blockTokens();
    boolean isWhole = cachedBlocks == (sequence.prefillTokens() - 1) / kv.blockTokens();
    return isWhole ? cached + sequence.tail : cached;
  }

  /** The last token must be computed even if it is cached: sampling needs what comes out of it. */
  int matchableBlocks(Sequence sequence) {
    return Math.max(0, sequence.prefillTokens() - 1) / kv.blockTokens();
  }

  /** For how many tokens there must be room if the sequence joins with that many of them. */
  int roomFor(Sequence sequence, int tokens) {
    return settings.room() == EngineSettings.Room.WHOLE_PROMPT
        ? Math.max(tokens, sequence.prefillTokens())
        : tokens;
  }

  /** Returns the number of further blocks that it takes to hold that many tokens. */
  int blocksBehind(int blocks, int tokens) {
    return Math.ceilDiv(tokens, kv.blockTokens()) - blocks;
  }

  /**
   * Returns the number of further blocks that so many tokens need behind those that are computed.
   */
  int blocksFor(int computed, int tokens) {
    int blockTokens = kv.blockTokens();
    return Math.ceilDiv(computed + tokens, blockTokens) - Math.ceilDiv(computed, blockTokens);
  }
}
