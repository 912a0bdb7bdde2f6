package dev.kvasir.sim;

import java.util.List;

/** Hands for tasks that have nothing to do with each other. */
@FunctionalInterface
public interface ParallelTasks {
  /** One who does everything, one after the other. */
  ParallelTasks ALONE = tasks -> tasks.forEach(Runnable::run);

  /** Does all of the tasks, whoever does which and when, and comes back when they are done. */
  void perform(List<Runnable> tasks);
}
