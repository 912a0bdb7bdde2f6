package dev.kvasir.cli.simulate;

import dev.kvasir.sim.clock.ParallelTasks;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

/**
 * Shares tasks out among all cores, wherever that pays.
 *
 * <p>What a task touches moves to the cache of the core that does it. With two cores and brief
 * events, that takes about as much processor time as sharing saves time: then one core does all.
 */
final class AllCores implements ParallelTasks {
  /** Events that take less are brief. */
  private static final double EVENT_NANOS_MIN = 4_000;

  /** Measurements over which the average is taken. */
  private static final int MEMORY = 16;

  private final int cores = ForkJoinPool.getCommonPoolParallelism() + 1;

  /** Recent average time of an event. */
  private double eventNanos;

  /** Each core has neighbours of the list, the same each time: what they use is near it. */
  @Override
  public void perform(List<Runnable> tasks) {
    int shares = Math.min(tasks.size(), cores);
    IntStream.range(0, shares)
        .parallel()
        .forEach(
            share -> {
              int end = tasks.size() * (share + 1) / shares;
              for (int i = tasks.size() * share / shares; i < end; i++) tasks.get(i).run();
            });
  }

  @Override
  public void perform(List<Runnable> tasks, long events) {
    if (cores > 2) {
      perform(tasks);
      return;
    }
    boolean isShared = eventNanos >= EVENT_NANOS_MIN;
    long begin = System.nanoTime();
    if (isShared) perform(tasks);
    else for (int i = 0; i < tasks.size(); i++) tasks.get(i).run();
    long elapsed = System.nanoTime() - begin;
    double nanos = (double) (isShared ? cores * elapsed : elapsed) / Math.max(1, events);
    eventNanos += (nanos - eventNanos) / MEMORY;
  }
}
