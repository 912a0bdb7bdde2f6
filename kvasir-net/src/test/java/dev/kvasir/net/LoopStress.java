package dev.kvasir.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Threads that hand in and cancel tasks, each other's too, as fast as they can. */
final class LoopStress {
  private static final int THREADS = 4;
  private static final int TASKS = 20_000;

  private enum Fate {
    RUNS,
    MAY_RUN,
    NEVER_RUNS
  }

  private final LiveLoop loop;
  private final long seed;
  private final Fate[] fates = new Fate[THREADS * TASKS];
  private final int[] runs = new int[THREADS * TASKS];
  private final int[] executedLast = new int[THREADS];
  private final Queue<Timer> doomed = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean inside = new AtomicBoolean();

  LoopStress(LiveLoop loop, long seed) {
    this.loop = loop;
    this.seed = seed;
  }

  void run() throws Exception {
    List<Callable<Boolean>> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      threads.add(() -> handIn(thread));
    }
    try (ExecutorService pool = Executors.newFixedThreadPool(THREADS)) {
      for (Future<Boolean> thread : pool.invokeAll(threads)) assertThat(thread.get()).isTrue();
    }
    while (cancelOne()) {}
  }

  private boolean handIn(int thread) {
    RandomGenerator random =
        RandomGeneratorFactory.of("L64X128MixRandom").create(seed * THREADS + thread);
    for (int task = thread * TASKS; task < (thread + 1) * TASKS; task++) {
      fates[task] = handIn(thread, task, random);
      if (random.nextInt(3) == 0) cancelOne();
    }
    return true;
  }

  private Fate handIn(int thread, int task, RandomGenerator random) {
    Duration soon = Duration.ofNanos(random.nextLong(2_000_000));
    switch (random.nextInt(5)) {
      case 0 -> loop.execute(() -> executed(thread, task));
      case 1 -> loop.executeHere(() -> executed(thread, task));
      case 2 -> loop.after(soon, () -> ran(task));
      case 3 -> {
        doomed.add(loop.after(soon, () -> ran(task)));
        return Fate.MAY_RUN;
      }
      default -> {
        doomed.add(loop.after(Duration.ofHours(1), () -> ran(task)));
        return Fate.NEVER_RUNS;
      }
    }
    return Fate.RUNS;
  }

  private boolean cancelOne() {
    Timer timer = doomed.poll();
    if (timer != null) timer.cancel();
    return timer != null;
  }

  private void executed(int thread, int task) {
    assertThat(task)
        .as("seed %d: first come, first run", seed)
        .isGreaterThanOrEqualTo(executedLast[thread]);
    executedLast[thread] = task;
    ran(task);
  }

  private void ran(int task) {
    assertThat(inside.compareAndSet(false, true)).as("seed %d: alone", seed).isTrue();
    runs[task]++;
    assertThat(inside.compareAndSet(true, false)).as("seed %d: alone", seed).isTrue();
  }

  void check() {
    for (int task = 0; task < runs.length; task++) {
      assertThat(runs[task])
          .as("seed %d: runs of task %d, which %s", seed, task, fates[task])
          .isBetween(fates[task] == Fate.RUNS ? 1 : 0, fates[task] == Fate.NEVER_RUNS ? 0 : 1);
    }
  }
}
