package dev.kvasir.bench;

import dev.kvasir.engine.Batch;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PreSchedule;
import dev.kvasir.engine.Scheduler;
import dev.kvasir.engine.SchedulingPolicy;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures the planning that remains between two steps: a plan computed afresh, beside one made
 * ahead that still fits, and one that is repaired because a running sequence ended unexpectedly.
 *
 * <p>256 sequences run; those that wait have part of their prompt cached and all join. Times are of
 * the processor, so that what else the machine does hardly counts; a ratio is the median over
 * rounds in which both take turns.
 */
public final class RepairBench {
  private static final int RUNNING = 256;
  private static final int BLOCK_TOKENS = 16;
  private static final int BLOCKS = 1 << 17;
  private static final int[] WAITING = {0, 1, 8, 40, 200};
  private static final int[] CACHED_BLOCKS = {0, 8, 64};
  private static final int ROUNDS = 15;
  private static final int WARM_UP = 5;
  private static final int REPEATS = 2_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private RepairBench() {}

  /** Names whose first blocks a family shares. */
  @SuppressWarnings("ArrayRecordComponent")
  private record FamilyNames(BlockHash[] names) implements BlockNames {
    static FamilyNames of(long family, int shared, long own, int blocks) {
      var names = new BlockHash[blocks];
      for (int i = 0; i < blocks; i++) {
        long id = i < shared ? family : own;
        names[i] = new BlockHash(mix(id * 8191 + i), mix(id), i, i < shared ? 1 : 2);
      }
      return new FamilyNames(names);
    }

    private static long mix(long word) {
      long mixed = (word ^ word >>> 32) * 0xd6e8feb86659fd93L;
      return mixed ^ mixed >>> 32;
    }

    @Override
    public BlockHash name(int index) {
      return names[index];
    }

    @Override
    public TokenBlock block(int index) {
      return TokenBlock.named(name(index), index == 0 ? null : name(index - 1), index);
    }
  }

  /** A scheduler whose next step was planned ahead, and whose step is over. */
  private static final class Situation {
    private final Scheduler scheduler;
    private final List<Sequence> running = new ArrayList<>();
    private final PreSchedule ahead;
    private long ids;

    Situation(int waiting, int cachedBlocks) {
      var pool =
          new BlockPool(
              PoolSettings.of(Tier.DEVICE, BLOCKS, BLOCK_TOKENS),
              new PrefixRegistry(),
              new KvEvents());
      var settings =
          EngineSettings.of(
              2 * RUNNING,
              1 << 20,
              0,
              0,
              SchedulingPolicy.FIRST_COME,
              EngineSettings.Victim.NEWEST);
      this.scheduler = new Scheduler(new PooledKv(pool), settings, () -> {});
      for (int i = 0; i < RUNNING; i++) running.add(add(i % 8, cachedBlocks, 2));
      var batch = step(scheduler.schedule());
      for (int i = 0; i < waiting; i++) add(i % 8, cachedBlocks, 4);
      this.ahead = scheduler.foresee(batch);
      var _ = scheduler.complete(batch);
    }

    private Batch step(Batch batch) {
      var _ = scheduler.complete(batch);
      return scheduler.schedule();
    }

    private Sequence add(long family, int shared, int own) {
      long id = ids++;
      int blocks = shared + own;
      var names = FamilyNames.of(family, shared, 1_000 + id, blocks + 8);
      return scheduler.add(new SequenceRequest("r" + id, names, blocks * BLOCK_TOKENS, 100, 0, id));
    }

    void endBySurprise() {
      scheduler.remove(running.getLast());
    }

    long computeNanos() {
      long before = THREADS.getCurrentThreadCpuTime();
      long sum = 0;
      for (int i = 0; i < REPEATS; i++) sum += scheduler.compute().changes();
      return keep(sum, THREADS.getCurrentThreadCpuTime() - before);
    }

    long repairNanos() {
      long before = THREADS.getCurrentThreadCpuTime();
      long sum = 0;
      for (int i = 0; i < REPEATS; i++) sum += scheduler.repair(ahead).decision().changes();
      return keep(sum, THREADS.getCurrentThreadCpuTime() - before);
    }

    /** Without the sum the compiler could leave the planning out. */
    private static long keep(long sum, long nanos) {
      if (sum < 0) throw new IllegalStateException("a plan of " + sum + " changes");
      return nanos;
    }
  }

  public static void main(String[] args) {
    System.out.printf(
        "%8s %14s %12s %12s %8s %12s %8s%n",
        "waiting", "cached blocks", "compute ns", "clean ns", "ratio", "repair ns", "ratio");
    for (int cached : CACHED_BLOCKS) {
      for (int waiting : WAITING) measure(waiting, cached);
    }
  }

  private static void measure(int waiting, int cached) {
    var clean = new Situation(waiting, cached);
    var ended = new Situation(waiting, cached);
    ended.endBySurprise();
    var computed = new double[ROUNDS];
    var fitted = new double[ROUNDS];
    var computedEnded = new double[ROUNDS];
    var repaired = new double[ROUNDS];
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      int at = Math.max(0, round);
      computed[at] = (double) clean.computeNanos() / REPEATS;
      fitted[at] = (double) clean.repairNanos() / REPEATS;
      computedEnded[at] = (double) ended.computeNanos() / REPEATS;
      repaired[at] = (double) ended.repairNanos() / REPEATS;
    }
    System.out.printf(
        Locale.ROOT,
        "%8d %14d %12.0f %12.0f %8.3f %12.0f %8.3f%n",
        waiting,
        cached,
        Median.of(computed),
        Median.of(fitted),
        Median.ratio(fitted, computed),
        Median.of(repaired),
        Median.ratio(repaired, computedEnded));
  }
}
