package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** A plan made ahead and put right is the plan that would be made anew. */
class RepairTest {
  private static final int STEPS = 400;

  private static final int LARGE_STEPS = 12;
  private static final int LARGE_SEEDS = 4;

  /** The long profile runs a million steps. */
  private static final int SEEDS = Seeds.scale() == 1 ? 60 : 125 * Seeds.scale();

  @Test
  void aRepairedPlanEqualsAFreshOneWhateverHappened() {
    var outcomes = new long[Scheduler.Repaired.Outcome.values().length];
    long[] preemptions = {0};
    var matches = new long[2];
    Seeds.each(
        SEEDS,
        random -> {
          var walk = new SchedulerWalk(random, SchedulerWalk.Size.SMALL);
          walk.run(STEPS);
          walk.drain();
          for (int i = 0; i < outcomes.length; i++) outcomes[i] += walk.outcomes[i];
          preemptions[0] += walk.preempted;
          matches[0] += walk.matchesRepaired;
          matches[1] += walk.matchesComputed;
        });
    System.out.printf(
        "RepairTest clean %d, repaired %d, recomputed %d; preempted %d;"
            + " look-ups by repairing %d, by computing %d%n",
        outcomes[0], outcomes[1], outcomes[2], preemptions[0], matches[0], matches[1]);
    if (Seeds.isReplay()) return;
    for (long count : outcomes) assertThat(count).isGreaterThan(SEEDS);
    assertThat(preemptions[0]).isPositive();
    assertThat(matches[0]).isLessThan(matches[1] * 2 / 3);
  }

  @Test
  void aRepairedPlanEqualsAFreshOneWhereManyWait() {
    Seeds.each(SEEDS, random -> walk(random, SchedulerWalk.Size.CROWDED, STEPS / 8));
    Seeds.each(
        LARGE_SEEDS * Seeds.scale(), random -> walk(random, SchedulerWalk.Size.LARGE, LARGE_STEPS));
  }

  @Test
  void aRepairedPlanEqualsAFreshOneWhereMoreChangesThanIsLogged() {
    Seeds.each(SEEDS, random -> walk(random, SchedulerWalk.Size.RESTLESS, STEPS / 8));
  }

  private static void walk(RandomGenerator random, SchedulerWalk.Size size, int steps) {
    var walk = new SchedulerWalk(random, size);
    walk.run(steps);
    walk.drain();
  }

  /** Five prompts of which more is cached than changes are logged. */
  private static final class LongPrompts {
    private static final int PROMPTS = 5;
    private static final int BLOCKS = 14_000;

    private final TestMemory memory = TestMemory.of(PROMPTS * (BLOCKS + 10));
    private final EngineSettings settings =
        EngineSettings.of(
            64, 1 << 20, 0, 0, SchedulingPolicy.FIRST_COME, EngineSettings.Victim.NEWEST);
    private int ids;

    SequenceRequest next(int family, int output) {
      var names = new TestNames(family, BLOCKS, 1_000 + ++ids);
      return new SequenceRequest(
          "s" + ids, names, BLOCKS * TestMemory.BLOCK_TOKENS + 2, output, 0, ids);
    }

    /** Evicts the blocks that were cached longest, as blocks from another tier would. */
    void makeRoom() {
      int missing = memory.pool().free() + 100;
      for (var block : memory.pool().allocate(missing).orElseThrow()) block.release();
    }
  }

  @Test
  void aPlanIsPutRightIfMoreChangedSinceThanIsLogged() {
    var prompts = new LongPrompts();
    var scheduler = new Scheduler(prompts.memory.kv(), prompts.settings, () -> {});
    for (int family = 0; family < LongPrompts.PROMPTS; family++) {
      scheduler.add(prompts.next(family, 1));
    }
    for (var batch = scheduler.schedule(); !batch.isEmpty(); batch = scheduler.schedule()) {
      for (var ended : scheduler.complete(batch).ended()) scheduler.remove(ended);
    }
    var names = new TestNames(9, 0, 1);
    scheduler.add(new SequenceRequest("runs", names, 3, 50, 0, 0));
    var batch = scheduler.schedule();
    for (int family = 0; family < LongPrompts.PROMPTS; family++) {
      scheduler.add(prompts.next(family, 1));
    }
    var ahead = scheduler.foresee(batch);
    assertThat(ahead.decision().admissions()).hasSize(LongPrompts.PROMPTS);
    scheduler.complete(batch);
    prompts.makeRoom();
    var repaired = scheduler.repair(ahead);
    assertThat(repaired.decision()).isEqualTo(scheduler.compute());
    assertThat(scheduler.apply(repaired.decision()).isEmpty()).isFalse();
    assertThat(scheduler.unopened()).isZero();
  }

  @Test
  void aPlanThatCountsOnBlocksThatAreGoneIsMadeAgain() {
    var burst = new Burst(4);
    burst.scheduler.complete(burst.batch);
    var stale = burst.scheduler.compute();
    assertThat(stale.admissions()).anyMatch(admission -> admission.cachedBlocks() > 0);
    burst.scheduler.remove(burst.first);
    burst.memory.pool().clear();
    var fresh = burst.scheduler.compute();
    int held = burst.memory.pool().held();
    var batch = burst.scheduler.apply(stale);
    assertThat(batch.parts()).hasSameSizeAs(fresh.admissions());
    assertThat(batch.parts()).allMatch(part -> part.start() == 0);
    assertThat(burst.scheduler.unopened()).isEqualTo(1);
    assertThat(held).isZero();
    burst.memory.check();
  }

  /** A scheduler with one running sequence and many that will join in the step after it. */
  private static final class Burst {
    private static final int WAITING = 40;
    private static final int PROMPT = 8 * TestMemory.BLOCK_TOKENS;

    private final TestMemory memory = TestMemory.of(1_000);
    private final CountingKv kv;
    private final Scheduler scheduler;
    private final Sequence first;
    private Batch batch;

    /** The sequence that runs first begins with so many of the blocks of the others' families. */
    Burst(int shared) {
      this(shared, CountingKv.Reports.CHANGES);
    }

    Burst(int shared, CountingKv.Reports reports) {
      this.kv = new CountingKv(memory.kv(), reports);
      this.scheduler = new Scheduler(kv, EngineSettings.DEFAULT, () -> {});
      this.first = add(0, shared);
      this.batch = scheduler.schedule();
      for (int i = 1; i <= WAITING; i++) add(i, 4);
      kv.drainMatches();
    }

    private Sequence add(int id, int shared) {
      var names = new TestNames(id % 4, shared, 1_000 + id);
      return scheduler.add(new SequenceRequest("s" + id, names, PROMPT, 20, 0, id));
    }

    PreSchedule foresee() {
      return scheduler.foresee(batch);
    }

    /** Ends the step that runs, and applies a decision. */
    void next(ScheduleDecision decision) {
      batch = scheduler.apply(decision);
      kv.drainMatches();
    }
  }

  @Test
  void aPlanForAStepThatChangesNothingIsTheOneMadeInFull() {
    // Enough for all prompts, and too few blocks for all answers.
    var memory = TestMemory.of(40);
    var scheduler = new Scheduler(memory.kv(), EngineSettings.of(256, 16), () -> {});
    for (int i = 0; i < 6; i++) {
      var names = new TestNames(i, 0, 1_000 + i);
      scheduler.add(new SequenceRequest("s" + i, names, 3 + 5 * i, 15 + 9 * i, 0, i));
    }
    int steady = 0;
    int steps = 0;
    for (var batch = scheduler.schedule(); !batch.isEmpty(); batch = scheduler.schedule()) {
      for (var ended : scheduler.complete(batch).ended()) scheduler.remove(ended);
      var briefly = scheduler.compute();
      assertThat(briefly).isEqualTo(scheduler.computeInFull());
      if (briefly.isSteady()) steady++;
      steps++;
    }
    assertThat(steady).isBetween(steps / 2, steps - 6);
  }

  @Test
  void aPlanThatStillFitsIsTakenWithoutAskingTheMemoryAgain() {
    var burst = new Burst(0);
    var ahead = burst.foresee();
    assertThat(burst.kv.drainMatches()).isEqualTo(Burst.WAITING);
    burst.scheduler.complete(burst.batch);
    var repaired = burst.scheduler.repair(ahead);
    assertThat(repaired.outcome()).isEqualTo(Scheduler.Repaired.Outcome.CLEAN);
    assertThat(burst.kv.drainMatches()).isZero();
    assertThat(burst.scheduler.compute()).isEqualTo(repaired.decision());
    assertThat(burst.kv.drainMatches()).isEqualTo(Burst.WAITING);
    assertThat(repaired.decision().admissions()).hasSize(Burst.WAITING);
  }

  @Test
  void whatAPlanThatStillFitsCostsDoesNotGrowWithTheNumberOfThoseWhoJoin() {
    var burst = new Burst(0);
    var ahead = burst.foresee();
    burst.scheduler.complete(burst.batch);
    long planned = burst.scheduler.drainWork();
    assertThat(planned).isGreaterThan(Burst.WAITING);
    burst.scheduler.repair(ahead);
    assertThat(burst.scheduler.drainWork()).isEqualTo(1);
    burst.scheduler.compute();
    assertThat(burst.scheduler.drainWork()).isGreaterThan(Burst.WAITING);
  }

  @Test
  void onlyThoseAreLookedUpAgainOfWhomSomethingChanged() {
    var burst = new Burst(4);
    var ahead = burst.foresee();
    assertThat(burst.kv.drainMatches()).isEqualTo(Burst.WAITING);
    // The step fills four blocks that a quarter of those who wait begin with.
    burst.scheduler.complete(burst.batch);
    var repaired = burst.scheduler.repair(ahead);
    assertThat(repaired.outcome()).isEqualTo(Scheduler.Repaired.Outcome.REPAIRED);
    assertThat(burst.kv.drainMatches()).isEqualTo(Burst.WAITING / 4);
    assertThat(repaired.decision()).isEqualTo(burst.scheduler.compute());
  }

  @Test
  void everybodyIsLookedUpAgainWhereTheMemoryReportsNoChanges() {
    var burst = new Burst(4, CountingKv.Reports.NOTHING);
    var ahead = burst.foresee();
    burst.scheduler.complete(burst.batch);
    burst.kv.drainMatches();
    var repaired = burst.scheduler.repair(ahead);
    assertThat(burst.kv.drainMatches()).isEqualTo(Burst.WAITING);
    assertThat(repaired.decision()).isEqualTo(burst.scheduler.compute());
  }

  @Test
  void aSequenceThatEndsBySurpriseHasNobodyElseLookedUpAgain() {
    var burst = new Burst(0);
    var ahead = burst.foresee();
    burst.scheduler.complete(burst.batch);
    burst.scheduler.remove(burst.first);
    burst.kv.drainMatches();
    var repaired = burst.scheduler.repair(ahead);
    assertThat(burst.kv.drainMatches()).isZero();
    assertThat(repaired.decision()).isEqualTo(burst.scheduler.compute());
  }

  @Test
  void aPlanForWhichThereIsNoRoomAnyMoreIsPutRight() {
    var burst = new Burst(0);
    var ahead = burst.foresee();
    burst.scheduler.complete(burst.batch);
    assertThat(burst.memory.pool().allocate(900)).isPresent();
    var repaired = burst.scheduler.repair(ahead);
    assertThat(repaired.decision()).isEqualTo(burst.scheduler.compute());
    assertThat(repaired.decision().admissions()).hasSizeBetween(1, Burst.WAITING - 1);
  }

  @Test
  void aPlanOfAnotherSchedulerIsComputedAnewAndNotCalledRepaired() {
    var burst = new Burst(0);
    var other = new Burst(0);
    var foreign = other.foresee();
    burst.scheduler.complete(burst.batch);
    other.scheduler.complete(other.batch);
    var repaired = burst.scheduler.repair(foreign);
    assertThat(repaired.outcome()).isEqualTo(Scheduler.Repaired.Outcome.RECOMPUTED);
    assertThat(repaired.decision()).isEqualTo(burst.scheduler.compute());
  }

  @Test
  void aPlanOfAnEarlierStepIsComputedAnewAndNotCalledRepaired() {
    var burst = new Burst(0);
    var old = burst.foresee();
    burst.scheduler.complete(burst.batch);
    burst.next(burst.scheduler.repair(old).decision());
    burst.scheduler.complete(burst.batch);
    var repaired = burst.scheduler.repair(old);
    assertThat(repaired.outcome()).isEqualTo(Scheduler.Repaired.Outcome.RECOMPUTED);
    assertThat(repaired.decision()).isEqualTo(burst.scheduler.compute());
  }
}
