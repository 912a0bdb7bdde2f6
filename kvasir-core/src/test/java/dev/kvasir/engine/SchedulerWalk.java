package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.kv.Block;
import dev.kvasir.time.VirtualLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** A scheduler on its way through steps in which anything may happen. */
final class SchedulerWalk {
  private final RandomGenerator random;
  private final VirtualLoop loop = new VirtualLoop();
  private final TestMemory memory;
  private final CountingKv kv;
  private final Scheduler scheduler;
  private final List<Sequence> alive = new ArrayList<>();
  private final List<Block.Registered> held = new ArrayList<>();
  private final Size size;
  private final int waitingMax;
  private long ids;
  final long[] outcomes = new long[Scheduler.Repaired.Outcome.values().length];
  long preempted;
  long matchesRepaired;
  long matchesComputed;

  /**
   * The largest sizes of a walk.
   *
   * @param memory the blocks of memory
   * @param arriving how many sequences come in a step
   * @param families how many beginnings prompts have
   * @param surprising one of so many sequences ends by surprise in a step
   * @param disturbing in one of so many steps somebody else changes the memory
   */
  record Size(
      int memory,
      int seats,
      int stepTokens,
      int waiting,
      int arriving,
      int promptBlocks,
      int families,
      int surprising,
      int disturbing) {
    /** Small enough for everything to happen often. */
    static final Size SMALL = new Size(60, 16, 64, 30, 3, 10, 3, 60, 8);

    /** The same with more who wait. */
    static final Size CROWDED = new Size(600, 40, 512, 60, 12, 10, 12, 60, 8);

    /** More changes between a plan and its repair than are logged, and mostly no surprises. */
    static final Size RESTLESS = new Size(4_000, 64, 2_048, 200, 60, 30, 12, 1_000, 2);

    /** The sizes that users have. */
    static final Size LARGE = new Size(60_000, 256, 8_192, 300, 300, 1_250, 40, 60, 8);
  }

  SchedulerWalk(RandomGenerator random, Size size) {
    this.random = random;
    this.size = size;
    int blocks = 6 + random.nextInt(size.memory);
    this.memory =
        random.nextInt(3) == 0
            ? TestMemory.tiered(loop, blocks, size.memory)
            : TestMemory.of(blocks);
    this.kv = new CountingKv(memory.kv(), CountingKv.Reports.CHANGES);
    this.waitingMax = 1 + random.nextInt(size.waiting);
    this.scheduler = new Scheduler(kv, settings(random, size, blocks), () -> {});
  }

  private static EngineSettings settings(RandomGenerator random, Size size, int blocks) {
    var orders = SchedulingPolicy.values();
    return EngineSettings.of(
            1 + random.nextInt(size.seats),
            random.nextInt(4) == 0 ? 4 + random.nextInt(size.stepTokens / 4) : size.stepTokens,
            random.nextInt(3) == 0 ? 1 + random.nextInt(size.stepTokens / 4) : 0,
            blocks * TestMemory.BLOCK_TOKENS,
            orders[random.nextInt(orders.length)],
            random.nextInt(4) == 0 ? Victim.LEAST_URGENT : Victim.NEWEST)
        .with(
            random.nextBoolean()
                ? EngineSettings.Room.WHOLE_PROMPT
                : EngineSettings.Room.FIRST_CHUNK);
  }

  /** Runs steps, each from a plan made ahead of it. */
  void run(int steps) {
    var batch = scheduler.schedule();
    for (int i = 0; i < steps; i++) {
      var before = picture();
      var ahead = scheduler.foresee(batch);
      assertThat(picture()).isEqualTo(before);
      loop.runUntil(loop.nanos() + random.nextInt(6_000));
      if (random.nextInt(6) == 0) prepare();
      finish(batch);
      if (random.nextInt(3) == 0) add();
      if (random.nextInt(20) == 0) abort();
      if (random.nextInt(size.disturbing) == 0) disturbMemory();
      batch = next(ahead);
      // Nothing was left to run when somebody had made room for itself alone.
      while (batch.isEmpty() && !batch.preempted().isEmpty()) batch = scheduler.schedule();
      memory.check();
    }
  }

  private Batch next(PreSchedule ahead) {
    var before = picture();
    kv.drainMatches();
    assertThat(scheduler.unopened()).isZero();
    var repaired = scheduler.repair(ahead);
    long matches = kv.drainMatches();
    var fresh = scheduler.compute();
    long matchesFresh = kv.drainMatches();
    assertThat(picture()).isEqualTo(before);
    assertThat(matches).isLessThanOrEqualTo(matchesFresh);
    matchesRepaired += matches;
    matchesComputed += matchesFresh;
    assertThat(repaired.decision()).isEqualTo(fresh);
    note(repaired);
    return scheduler.apply(repaired.decision());
  }

  private void note(Scheduler.Repaired repaired) {
    switch (repaired.outcome()) {
      case CLEAN -> outcomes[0]++;
      case REPAIRED -> outcomes[1]++;
      case RECOMPUTED -> outcomes[2]++;
    }
    preempted += repaired.decision().preempted().size();
  }

  /** Books the step, with surprises. */
  private void finish(Batch batch) {
    var computed = new ArrayList<Sequence>();
    for (var part : batch.parts()) computed.add(part.sequence());
    for (var row : batch.rows()) computed.add(row.sequence());
    assertThat(computed).hasSize(batch.parts().size() + batch.decodes());
    var stopped = new ArrayList<Sequence>();
    for (var sequence : computed) {
      if (random.nextInt(size.surprising) == 0) {
        remove(sequence);
      } else if (random.nextInt(size.surprising / 2) == 0) {
        stopped.add(sequence);
      }
    }
    var end = scheduler.complete(batch);
    for (var sequence : end.ended()) remove(sequence);
    for (var sequence : stopped) {
      if (sequence.state() != Sequence.State.ENDED) remove(sequence);
    }
  }

  private void add() {
    int coming = random.nextInt(size.arriving + 1);
    for (int count = coming; count > 0 && scheduler.waiting() < waitingMax; count--) {
      int prompt = 1 + random.nextInt(size.promptBlocks * TestMemory.BLOCK_TOKENS);
      int shared = random.nextInt(size.promptBlocks * 4 / 5);
      var names = new TestNames(random.nextInt(size.families), shared, ++ids);
      var request =
          new SequenceRequest(
              "s" + ids, names, prompt, 1 + random.nextInt(30), random.nextInt(3), ids);
      if (scheduler.refusal(request) == null) alive.add(scheduler.add(request));
    }
  }

  /** Looks up those who wait, as an engine does with those who come during a step. */
  private void prepare() {
    for (var sequence : alive) {
      if (random.nextInt(3) == 0) scheduler.prepare(sequence);
    }
  }

  /** Somebody else evicts cached blocks, or holds some for a moment. */
  private void disturbMemory() {
    var pool = memory.pool();
    switch (random.nextInt(4)) {
      case 0 -> kv.clear();
      case 3 -> pool.evict(Math.min(pool.cached(), 1 + random.nextInt(3)));
      case 1 -> pool.evict(random.nextInt(pool.cached() + 1));
      default -> {
        int family = random.nextInt(size.families);
        pool.hold(new TestNames(family, 8, 0).name(random.nextInt(4))).ifPresent(held::add);
        if (held.size() > 2) held.removeFirst().release();
      }
    }
  }

  private void abort() {
    if (!alive.isEmpty()) remove(alive.get(random.nextInt(alive.size())));
  }

  private void remove(Sequence sequence) {
    scheduler.remove(sequence);
    alive.remove(sequence);
  }

  void drain() {
    for (var sequence : List.copyOf(alive)) remove(sequence);
    for (var block : held) block.release();
    loop.run(100_000);
    assertThat(memory.pool().held()).isZero();
  }

  /** All that a plan could have changed. */
  private List<Object> picture() {
    var picture = new ArrayList<Object>();
    for (var sequence : alive) {
      picture.add(sequence.toString());
      picture.add(scheduler.computed(sequence));
      picture.add(sequence.span == null ? -1 : sequence.blocks().blocks());
    }
    picture.add(memory.pool().stats());
    picture.add(List.of(memory.pool().free(), memory.pool().held(), memory.pool().cached()));
    picture.add(List.of(scheduler.waiting(), scheduler.running(), scheduler.preemptions()));
    return picture;
  }
}
