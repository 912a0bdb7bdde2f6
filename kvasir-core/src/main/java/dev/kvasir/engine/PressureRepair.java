package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.engine.ScheduleDecision.Chunk;
import dev.kvasir.kv.KvSpan;
import java.util.ArrayList;
import java.util.List;

/**
 * Puts right what was planned for those that run under pressure, without going through all of them:
 * preemptions that are no longer needed are cancelled.
 *
 * <p>What comes out is what {@link PressurePlan} would give. Where the newest go and tokens are
 * enough, it preempts as few as will do, and more room never needs more of them; so they can be
 * taken back from the last one on.
 */
final class PressureRepair {
  private final SchedulerState state;
  private final PlannedBatch outlook;
  private final PreSchedule ahead;

  PressureRepair(SchedulerState state, PlannedBatch outlook, PreSchedule ahead) {
    this.state = state;
    this.outlook = outlook;
    this.ahead = ahead;
  }

  /** Null where the batch must be gone through. */
  ScheduleDecision.@Nullable RunningPlan plan(int tokensMax) {
    return ahead.rows().isAtOthersCost() ? cancel(tokensMax) : keep();
  }

  /** Too few tokens and enough memory: the same rows get the same again. */
  private ScheduleDecision.@Nullable RunningPlan keep() {
    var rows = ahead.rows();
    int taken = ahead.available() - rows.available();
    if (outlook.running != ahead.running() || taken > outlook.available) return null;
    return new ScheduleDecision.RunningPlan(
        rows.tokensLeft(),
        outlook.available - taken,
        List.of(),
        List.of(),
        rows.chunks(),
        rows.idle());
  }

  private ScheduleDecision.@Nullable RunningPlan cancel(int tokensMax) {
    if (state.settings.victim() != Victim.NEWEST || !state.reserved.isEmpty()) return null;
    int tokens = outlook.decodes;
    int blocks = outlook.atBorder;
    for (var sequence : outlook.prefilling) {
      state.work.look();
      tokens += tokens(sequence);
      blocks += blocks(sequence);
    }
    if (tokens > tokensMax) return null;
    var victims = victims();
    if (victims == null || victims.isEmpty()) return null;
    var spans = new ArrayList<KvSpan>(victims.size());
    for (var victim : victims) {
      spans.add(state.blocks(victim));
      tokens -= tokens(victim);
      blocks -= blocks(victim);
    }
    if (blocks > roomWithout(spans)) return null;
    while (!victims.isEmpty()) {
      var last = victims.getLast();
      if (blocks + blocks(last) > roomWithout(spans.subList(0, spans.size() - 1))) break;
      victims.removeLast();
      spans.removeLast();
      tokens += tokens(last);
      blocks += blocks(last);
    }
    int room = roomWithout(spans);
    return new ScheduleDecision.RunningPlan(
        tokensMax - tokens, room - blocks, List.of(), victims, chunks(victims), List.of());
  }

  /** The planned victims that still run, if they are the newest of all; null if not. */
  private @Nullable List<Sequence> victims() {
    var victims = new ArrayList<Sequence>();
    var newest = state.running.last();
    for (var victim : ahead.rows().preempted()) {
      state.work.look();
      if (victim.state != Sequence.State.RUNNING) continue;
      if (victim != newest) return null;
      victims.add(victim);
      newest = victim.before;
    }
    return victims;
  }

  private int roomWithout(List<KvSpan> spans) {
    return outlook.available + state.kv.reclaimable(spans);
  }

  private List<Chunk> chunks(List<Sequence> victims) {
    var chunks = new ArrayList<Chunk>();
    long end = victims.isEmpty() ? Long.MAX_VALUE : victims.getLast().rank;
    for (var sequence : outlook.prefilling) {
      if (sequence.rank < end) chunks.add(new Chunk(sequence, tokens(sequence)));
    }
    return chunks;
  }

  private int tokens(Sequence sequence) {
    if (outlook.decodes(sequence)) return 1;
    return state.settings.clipChunk(sequence.prefillTokens() - outlook.computed(sequence));
  }

  private int blocks(Sequence sequence) {
    return state.blocksFor(outlook.computed(sequence), tokens(sequence));
  }
}
