package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.engine.ScheduleDecision.Chunk;
import dev.kvasir.kv.KvSpan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Plans for those that run when there are too few tokens or too little memory for all of them. */
final class PressurePlan {
  /** Share of this step that a sequence is to get. */
  private record Share(int tokens, int blocks) {}

  private final SchedulerState state;
  private final int availableNow;
  private final Map<Sequence, Share> shares = new LinkedHashMap<>();
  private final Set<Sequence> preempted = new LinkedHashSet<>();
  private final List<Sequence> givenUp = new ArrayList<>();
  private final List<KvSpan> returned = new ArrayList<>();
  private int tokensLeft;
  private int reserved;
  private int reclaimed;

  PressurePlan(SchedulerState state, int availableNow) {
    this.state = state;
    this.availableNow = availableNow;
    this.tokensLeft = state.settings.stepTokensMax();
  }

  ScheduleDecision.RunningPlan plan() {
    run();
    return new ScheduleDecision.RunningPlan(
        tokensLeft, available(), givenUp, List.copyOf(preempted), chunks(), idle());
  }

  private void run() {
    for (var each = state.running.first(); each != null && tokensLeft > 0; each = each.after) {
      state.work.look();
      if (preempted.contains(each)) continue;
      int computed = state.computed(each);
      int tokens = each.decoding ? 1 : state.settings.clipChunk(each.prefillTokens() - computed);
      tokens = Math.min(tokens, tokensLeft);
      int blocks = state.blocksFor(computed, tokens);
      if (!makeRoom(each, blocks)) return;
      shares.put(each, new Share(tokens, blocks));
      tokensLeft -= tokens;
      reserved += blocks;
    }
  }

  private int available() {
    return availableNow + reclaimed - reserved;
  }

  private List<Chunk> chunks() {
    var chunks = new ArrayList<Chunk>();
    shares.forEach(
        (sequence, share) -> {
          if (!sequence.decoding) chunks.add(new Chunk(sequence, share.tokens()));
        });
    return chunks;
  }

  /** Decoding sequences that stay and get nothing. */
  private List<Sequence> idle() {
    var idle = new ArrayList<Sequence>();
    for (var each = state.running.first(); each != null; each = each.after) {
      state.work.check();
      if (!each.decoding) continue;
      if (!shares.containsKey(each) && !preempted.contains(each)) idle.add(each);
    }
    return idle;
  }

  /** False if the sequence itself had to go. */
  private boolean makeRoom(Sequence sequence, int blocks) {
    while (blocks > available()) {
      if (givenUp.size() < state.reserved.size()) {
        var waiting = state.reserved.get(state.reserved.size() - 1 - givenUp.size());
        givenUp.add(waiting);
        returned.add(waiting.blocks());
      } else {
        var victim = victim();
        if (victim == null) return false;
        preempted.add(victim);
        returned.add(state.blocks(victim));
        var share = shares.remove(victim);
        if (share != null) {
          tokensLeft += share.tokens();
          reserved -= share.blocks();
        }
        if (victim == sequence) {
          reclaimed = state.kv.reclaimable(returned);
          return false;
        }
      }
      reclaimed = state.kv.reclaimable(returned);
    }
    return true;
  }

  private @Nullable Sequence victim() {
    Sequence worst = null;
    for (var each = state.running.last(); each != null; each = each.before) {
      state.work.check();
      if (preempted.contains(each)) continue;
      if (state.settings.victim() == Victim.NEWEST) return each;
      if (worst == null || isWorse(each, worst)) worst = each;
    }
    return worst;
  }

  /** Walking from the back, so that of equals the one further back stays the worst. */
  private static boolean isWorse(Sequence each, Sequence worst) {
    var request = each.request();
    var other = worst.request();
    if (request.priority() != other.priority()) return request.priority() > other.priority();
    return request.arrivalNanos() > other.arrivalNanos();
  }
}
