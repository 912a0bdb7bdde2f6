package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.ScheduleDecision.Admission;
import dev.kvasir.engine.ScheduleDecision.Blocked;
import dev.kvasir.engine.ScheduleDecision.Chunk;
import dev.kvasir.engine.ScheduleDecision.Overtaken;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvSpan;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Plans one step, and changes nothing: first the sequences that continue, then those that join.
 *
 * <p>As long as tokens and memory are enough for all that run, only those are looked at for whom
 * something changes. When one of them is short, the whole batch is gone through in order.
 */
final class Planner {
  private static final ScheduleDecision.RunningPlan NOTHING =
      new ScheduleDecision.RunningPlan(0, 0, List.of(), List.of(), List.of(), List.of());

  /** Number of sequences that are looked up ahead of time behind those that join. */
  private static final int PREPARED = 4;

  /** After so many behind a sequence, nobody behind it begins to have blocks brought up. */
  private static final int OVERTAKEN_BY_FETCHES = 8;

  /** After so many behind a sequence, it does with as much as has room on the way up. */
  private static final int OVERTAKEN_MAX = 64;

  /** Source from which a plan takes what is cached of a sequence. */
  enum Source {
    /** From the memory: every sequence is looked up. */
    MEMORY,
    /** From what was looked up before, as far as that still holds. */
    KEPT
  }

  private final SchedulerState state;
  private final PlannedBatch outlook;
  private final Source source;
  private final PlanningWork work;
  private final long version;
  private int tokensLeft;
  private int available;
  private int required;
  private int fetchable;
  private ScheduleDecision.RunningPlan rows = NOTHING;
  private List<Sequence> givenUp = List.of();
  private List<Sequence> fetches = List.of();
  private List<Admission> admissions = List.of();

  /** Those who found no room on the way up, and how many were served before each was passed. */
  private List<Overtaken> passed = List.of();

  private int served;
  private int mostOvertaken;
  private boolean pressed;

  /** Numbers of tokens and blocks that those in the batch leave for others. */
  private int tokensForOthers;

  private int blocksForOthers;
  private int waitingMax = Integer.MAX_VALUE;
  private @Nullable Blocked blocked;

  Planner(SchedulerState state, PlannedBatch outlook, Source source) {
    this.state = state;
    this.outlook = outlook;
    this.source = source;
    this.work = state.work;
    this.version = state.matches.version();
    this.tokensLeft = state.settings.stepTokensMax();
    this.available = outlook.available();
  }

  ScheduleDecision decision() {
    return new ScheduleDecision(
        givenUp,
        rows.preempted(),
        rows.chunks(),
        rows.idle(),
        fetches,
        admissions,
        overtaken(),
        blocked);
  }

  private List<Overtaken> overtaken() {
    if (passed.isEmpty()) return passed;
    return passed.stream()
        .filter(each -> each.times() < served)
        .map(each -> new Overtaken(each.sequence(), served - each.times()))
        .toList();
  }

  /**
   * Plans a step ahead. Where those that run are short of tokens or memory, those that wait are
   * only looked up.
   */
  PreSchedule planAhead() {
    if (!planSteady()) {
      var line = state.waiting.inOrder().iterator();
      prepareNext(line.next(), line);
      return PreSchedule.steady(state);
    }
    planAdmissions();
    return new PreSchedule(
        state,
        state.applied,
        decision(),
        outlook.running(),
        tokensForOthers,
        required,
        waitingMax,
        state.waiting.reorders(),
        version,
        state.fetching,
        state.kv.fetching().fetchable());
  }

  /**
   * Returns whether those that run were short of tokens or memory, so that all were gone through.
   */
  boolean isPressed() {
    return pressed;
  }

  /** Plans what the running sequences compute. */
  Planner planRunning() {
    pressed = !planSteady();
    if (pressed) load(new PressurePlan(state, outlook.available()).plan());
    return this;
  }

  private void load(ScheduleDecision.RunningPlan plan) {
    rows = plan;
    tokensLeft = plan.tokensLeft();
    available = plan.available();
    givenUp = plan.givenUp();
    tokensForOthers = tokensLeft;
    blocksForOthers = available;
  }

  private boolean planSteady() {
    int tokens = outlook.decodes();
    int blocks = outlook.atBorder();
    List<Chunk> parts = state.prefilling.isEmpty() ? List.of() : new ArrayList<>();
    for (var sequence : state.prefilling) {
      // Ahead, it may be computed by then, and is one of those that decode or gone.
      int computed = sequence.computed + sequence.part;
      if (computed >= sequence.prefillTokens()) continue;
      work.look();
      int part = state.settings.clipChunk(sequence.prefillTokens() - computed);
      int left = tokensLeft - tokens;
      if (part > left) {
        // Only the last in line may be cut short without anybody behind it being concerned.
        if (sequence != state.running.last() || left <= 0) return false;
        part = left;
      }
      tokens += part;
      blocks += state.blocksFor(computed, part);
      parts.add(new Chunk(sequence, part));
    }
    if (tokens > tokensLeft || blocks > available) return false;
    load(
        new ScheduleDecision.RunningPlan(
            tokensLeft - tokens, available - blocks, List.of(), List.of(), parts, List.of()));
    return true;
  }

  /** Plans who joins, or takes that from a plan made ahead if a new one would decide the same. */
  ScheduleDecision planAdmissions(PreSchedule ahead) {
    boolean holds = ahead.holds(outlook.running(), tokensForOthers, blocksForOthers);
    if (pressed || !holds) return planAdmissions().decision();
    return ahead.decision().withChunks(rows.chunks());
  }

  /** Plans who joins; nobody in a step for which one was preempted. */
  Planner planAdmissions() {
    // Most steps admit no sequence, and should cost nothing for it.
    if (rows.isAtOthersCost()) return this;
    if (state.waiting.size() == 0) {
      waitingMax = 0;
      return this;
    }
    fetches = new ArrayList<>(0);
    admissions = new ArrayList<>(1);
    givenUp = new ArrayList<>(0);
    int seats = state.settings.sequencesMax() - outlook.running();
    fetchable = state.kv.fetching().fetchable();
    var line = state.waiting.inOrder().iterator();
    while (line.hasNext()) {
      var sequence = line.next();
      if (isOver(seats) || !join(sequence)) {
        prepareNext(sequence, line);
        return this;
      }
    }
    waitingMax = state.waiting.size();
    return this;
  }

  private boolean isOver(int seats) {
    if (admissions.size() >= seats || tokensLeft <= 0) return true;
    // What others gave up is still held: only the next plan can use it.
    return !givenUp.isEmpty();
  }

  /** False if no sequence behind it may join either. */
  private boolean join(Sequence sequence) {
    if (isStillBlocked(sequence)) {
      blocked = state.blocked;
      return false;
    }
    var match = match(sequence);
    // One that holds its blocks had its turn when they were brought up.
    if (sequence.span != null) return admit(sequence, match);
    if (mostOvertaken >= OVERTAKEN_MAX) return false;
    if (match.below() > 0 && !isOvertakenTooOften(sequence) && findsNoRoom(match)) {
      pass(sequence);
      return true;
    }
    boolean isServed = match.below() > 0 ? fetch(sequence, match) : admit(sequence, match);
    if (isServed) serve();
    return isServed;
  }

  private static boolean isOvertakenTooOften(Sequence sequence) {
    return sequence.overtaken >= OVERTAKEN_MAX;
  }

  /**
   * Returns whether its blocks have to wait for those of others that are on their way up. More than
   * can ever be fetched at once is fetched as far as it goes, when nothing else is under way.
   */
  private boolean findsNoRoom(KvMatch match) {
    if (state.fetching + fetches.size() == 0) return false;
    return match.below() > roomForFetches() || mostOvertaken >= OVERTAKEN_BY_FETCHES;
  }

  private int roomForFetches() {
    boolean isFull = state.fetching + fetches.size() == state.settings.sequencesMax();
    return isFull ? 0 : fetchable;
  }

  /** Goes on to those behind it: they may join, and fetch what they need as long as it is fair. */
  private void pass(Sequence sequence) {
    if (passed.isEmpty()) passed = new ArrayList<>(2);
    passed.add(new Overtaken(sequence, served));
    mostOvertaken = Math.max(mostOvertaken, sequence.overtaken);
  }

  private void serve() {
    served++;
    if (!passed.isEmpty()) mostOvertaken++;
  }

  /** Looks up the next in line, in case there is more room in the end than foreseen. */
  private void prepareNext(Sequence first, Iterator<Sequence> line) {
    if (!outlook.isAhead()) return;
    match(first);
    for (int i = 1; i < PREPARED && line.hasNext(); i++) match(line.next());
  }

  /**
   * Returns whether the sequence that found too little memory would find too little again. With no
   * more of its blocks in memory it needs as much as before, unless others join and begin to hold
   * them.
   */
  private boolean isStillBlocked(Sequence sequence) {
    // With no sequence running, others can be made to release their blocks.
    if (outlook.running() == 0 && !state.reserved.isEmpty()) return false;
    var last = state.blocked;
    return last != null
        && last.sequence() == sequence
        && admissions.isEmpty()
        && fetches.isEmpty()
        && available <= last.available()
        && (last.cachedBlocks() >= state.matchableBlocks(sequence)
            || !state.kv.has(sequence.request().names().name(last.cachedBlocks())));
  }

  private KvMatch match(Sequence sequence) {
    var held = sequence.span;
    if (held != null) return new KvMatch(held.blocks(), 0, 0);
    var match = cached(sequence, state.matchableBlocks(sequence));
    return sequence.fetched ? new KvMatch(match.blocks(), match.idle(), 0) : match;
  }

  private KvMatch cached(Sequence sequence, int blocksMax) {
    if (source == Source.KEPT) return state.matches.of(sequence, blocksMax);
    var match = state.kv.match(sequence.request().names(), blocksMax);
    work.look(1 + match.blocks() + match.below());
    return match;
  }

  private boolean admit(Sequence sequence, KvMatch match) {
    int start = state.start(sequence, match.blocks());
    int part = Math.min(firstPart(sequence, start), tokensLeft);
    if (!claim(sequence, match, start + part)) return false;
    admissions.add(new Admission(sequence, match.blocks(), part));
    tokensLeft -= part;
    return true;
  }

  /**
   * Has its blocks brought up if it can join once they are there: what is fetched into a full
   * memory does not arrive, and would be computed instead. One that was overtaken too often has as
   * many brought up as there is room for, and the rest is computed.
   */
  private boolean fetch(Sequence sequence, KvMatch match) {
    int room = isOvertakenTooOften(sequence) ? roomForFetches() : match.below();
    int below = Math.min(match.below(), room);
    if (below == 0) return admit(sequence, match);
    int start = state.start(sequence, match.blocks() + below);
    int part = Math.min(firstPart(sequence, start), state.settings.stepTokensMax());
    if (!claim(sequence, match, start + part)) return false;
    fetches.add(sequence);
    fetchable -= below;
    return true;
  }

  private int firstPart(Sequence sequence, int start) {
    return state.settings.clipChunk(sequence.prefillTokens() - start);
  }

  /** Takes the memory for that many first tokens, if enough is free. */
  private boolean claim(Sequence sequence, KvMatch match, int tokens) {
    int blocks = state.blocksBehind(match.blocks(), tokens) + match.idle();
    int free = state.blocksBehind(match.blocks(), state.roomFor(sequence, tokens)) + match.idle();
    if (free > available && giveUpOthers(sequence, free)) {
      // All that is cached may be idle once they have let go of it.
      int held = sequence.span == null ? match.blocks() - match.idle() : 0;
      blocks += held;
      free += held;
      if (free > available) return false;
    }
    if (free > available) {
      blocked = new Blocked(sequence, match.blocks(), available);
      return false;
    }
    required = Math.max(required, blocksForOthers - available + free);
    available -= blocks;
    return true;
  }

  /** If no sequence runs, none would ever make room: a waiting sequence must. */
  private boolean giveUpOthers(Sequence sequence, int blocks) {
    if (outlook.running() > 0 || !admissions.isEmpty()) return false;
    var returned = new ArrayList<KvSpan>();
    for (int i = state.reserved.size() - 1; i >= 0 && blocks > available; i--) {
      var other = state.reserved.get(i);
      if (other == sequence) continue;
      givenUp.add(other);
      returned.add(other.blocks());
      available = outlook.available() + state.kv.reclaimable(returned);
    }
    return !returned.isEmpty();
  }
}
