package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.ScheduleDecision.Admission;
import dev.kvasir.engine.ScheduleDecision.Blocked;
import dev.kvasir.engine.ScheduleDecision.Chunk;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvSpan;
import java.util.ArrayList;
import java.util.List;

/**
 * Plans one step, and changes nothing: first what goes on, then who joins.
 *
 * <p>As long as tokens and memory are enough for all that run, only those are looked at for whom
 * something changes. When one of them is short, the whole batch is gone through in order.
 */
final class Planner {
  private final SchedulerState state;
  private int tokensLeft;
  private int available;
  private List<Sequence> givenUp = List.of();
  private List<Sequence> preempted = List.of();
  private List<Chunk> chunks = List.of();
  private List<Sequence> idle = List.of();
  private List<Sequence> fetches = List.of();
  private List<Admission> admissions = List.of();
  private @Nullable Blocked blocked;

  Planner(SchedulerState state, int tokensLeft) {
    this.state = state;
    this.tokensLeft = tokensLeft;
    this.available = state.kv.available();
  }

  int tokensLeft() {
    return tokensLeft;
  }

  ScheduleDecision decision() {
    return new ScheduleDecision(givenUp, preempted, chunks, idle, fetches, admissions, blocked);
  }

  /** What those that run already compute. */
  Planner planRunning() {
    if (!planSteady()) planUnderPressure();
    return this;
  }

  private boolean planSteady() {
    int tokens = state.decoding.size();
    int blocks = state.decoding.atBorder().size();
    List<Chunk> parts = state.prefilling.isEmpty() ? List.of() : new ArrayList<>();
    for (var sequence : state.prefilling) {
      int part = state.settings.clipChunk(sequence.prefillTokens() - sequence.computed);
      int left = tokensLeft - tokens;
      if (part > left) {
        // Only the last in line may be cut short without anybody behind it being concerned.
        if (sequence != state.running.last() || left <= 0) return false;
        part = left;
      }
      tokens += part;
      blocks += state.blocksFor(sequence.computed, part);
      parts.add(new Chunk(sequence, part));
    }
    if (tokens > tokensLeft || blocks > available) return false;
    tokensLeft -= tokens;
    available -= blocks;
    chunks = parts;
    return true;
  }

  private void planUnderPressure() {
    var plan = new PressurePlan(state, tokensLeft);
    plan.run();
    tokensLeft = plan.tokensLeft();
    available = plan.available();
    givenUp = plan.givenUp();
    preempted = plan.preempted();
    chunks = plan.chunks();
    idle = plan.idle();
  }

  /** Who joins, as many as said at most; nobody in a step in which somebody made room. */
  Planner planAdmissions(int most) {
    // Most steps have nobody to admit, and should cost nothing for it.
    if (!preempted.isEmpty() || !givenUp.isEmpty() || state.waiting.size() == 0) return this;
    fetches = new ArrayList<>();
    admissions = new ArrayList<>();
    givenUp = new ArrayList<>(givenUp);
    int seats = state.settings.sequencesMax() - state.running.size();
    int fetchesMax = state.settings.sequencesMax() - state.fetching;
    for (var sequence : state.waiting.inOrder()) {
      int joined = admissions.size();
      if (joined == most || joined >= seats || tokensLeft <= 0) break;
      // What others gave up is still held: whom it would suit, only the next plan can tell.
      if (!givenUp.isEmpty()) break;
      if (isStillBlocked(sequence)) {
        blocked = state.blocked;
        break;
      }
      var match = match(sequence);
      if (match.below() > 0) {
        if (fetches.size() < fetchesMax) fetches.add(sequence);
      } else if (!admit(sequence, match)) {
        break;
      }
    }
    return this;
  }

  /**
   * Whether the one who found too little memory would find too little again. With no more of its
   * blocks in memory it needs as much as before, unless others join and begin to hold them.
   */
  private boolean isStillBlocked(Sequence sequence) {
    var last = state.blocked;
    return last != null
        && last.sequence() == sequence
        && admissions.isEmpty()
        && fetches.isEmpty()
        && available <= last.available()
        && (last.cachedBlocks() >= matchableBlocks(sequence)
            || !state.kv.has(sequence.request().names().name(last.cachedBlocks())));
  }

  private KvMatch match(Sequence sequence) {
    var held = sequence.span;
    if (held != null) return new KvMatch(held.blocks(), 0, 0);
    var match = state.kv.match(sequence.request().names(), matchableBlocks(sequence));
    return sequence.fetched ? new KvMatch(match.blocks(), match.idle(), 0) : match;
  }

  /** The last token must be computed even if it is cached: sampling needs what comes out of it. */
  private int matchableBlocks(Sequence sequence) {
    int tokens = sequence.prefillTokens();
    if (!state.settings.has(BatchQuirk.WHOLE_PROMPT_IS_FREE)) tokens = Math.max(0, tokens - 1);
    return tokens / state.kv.blockTokens();
  }

  private boolean admit(Sequence sequence, KvMatch match) {
    int start = match.blocks() * state.kv.blockTokens();
    int part = state.settings.clipChunk(sequence.prefillTokens() - start);
    part = Math.min(part, tokensLeft);
    int blocks = state.blocksFor(start, part) + match.idle();
    if (blocks > available && giveUpOthers(sequence, blocks)) {
      // All that is cached may be idle once they have let go of it.
      blocks += sequence.span == null ? match.blocks() - match.idle() : 0;
    }
    if (blocks > available) {
      blocked = new Blocked(sequence, match.blocks(), available);
      return false;
    }
    admissions.add(new Admission(sequence, match.blocks(), part));
    tokensLeft -= part;
    available -= blocks;
    return true;
  }

  /** With nobody running, nobody would ever make room: whoever only waits must. */
  private boolean giveUpOthers(Sequence sequence, int blocks) {
    if (state.running.size() > 0 || !admissions.isEmpty()) return false;
    var returned = new ArrayList<KvSpan>();
    for (int i = state.reserved.size() - 1; i >= 0 && blocks > available; i--) {
      var other = state.reserved.get(i);
      if (other == sequence) continue;
      givenUp.add(other);
      returned.add(other.blocks());
      available = state.kv.available() + state.kv.reclaimable(returned);
    }
    return !returned.isEmpty();
  }
}
