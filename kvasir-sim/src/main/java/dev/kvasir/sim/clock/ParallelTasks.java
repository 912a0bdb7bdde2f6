package dev.kvasir.sim.clock;

import java.util.List;

/** Hands for tasks that have nothing to do with each other. */
@FunctionalInterface
public interface ParallelTasks {
  /** One who does everything, one after the other. */
  ParallelTasks ALONE = tasks -> tasks.forEach(Runnable::run);

  /** Does all of the tasks, whoever does which and when, and comes back when they are done. */
  void perform(List<Runnable> tasks);

  /**
   * The same for tasks of which it is known how much they are.
   *
   * @param events about how many things there are to do in all of them
   */
  default void perform(List<Runnable> tasks, long events) {
    perform(tasks);
  }
}
