package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvStore;
import java.util.ArrayList;
import java.util.List;

/** Everything a plan for the next step is made from: the memory, and who waits and runs. */
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

  /** The sequences of the batch that get a token, for whoever computes them. */
  final DecodeRows rows = new DecodeRows(this);

  ScheduleDecision.@Nullable Blocked blocked;
  int fetching;

  SchedulerState(KvStore kv, EngineSettings settings) {
    this.kv = kv;
    this.settings = settings;
    this.waiting = settings.order().open();
    this.decoding = new DecodeRing(kv.blockTokens());
  }

  int computed(Sequence sequence) {
    return sequence.decoding ? decoding.computed(sequence) : sequence.computed;
  }

  /**
   * Up to where nothing is left to compute for a sequence that joins with so many blocks cached.
   */
  int start(Sequence sequence, int cachedBlocks) {
    int cached = cachedBlocks * kv.blockTokens();
    boolean isWhole = cachedBlocks == (sequence.prefillTokens() - 1) / kv.blockTokens();
    return isWhole ? cached + sequence.tail : cached;
  }

  /** How many more blocks it takes to hold that many tokens. */
  int blocksBehind(int blocks, int tokens) {
    return Math.ceilDiv(tokens, kv.blockTokens()) - blocks;
  }

  /** How many more blocks that many tokens need behind those that are computed. */
  int blocksFor(int computed, int tokens) {
    int blockTokens = kv.blockTokens();
    return Math.ceilDiv(computed + tokens, blockTokens) - Math.ceilDiv(computed, blockTokens);
  }
}
