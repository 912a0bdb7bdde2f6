package dev.kvasir.sim.clock;

import dev.kvasir.time.EventLoop;

/** The time of one instance, and its way from and to the rest of the cluster. */
public sealed interface InstanceClock permits InstanceClock.Shared, OwnClock {
  /** Returns the event loop on which the instance does its work. */
  EventLoop loop();

  /** Runs a task of the cluster in the instance, now. */
  void runInInstance(Runnable task);

  /** Runs a task of the instance in the cluster, now. */
  void runInCluster(Runnable news);

  default long nanos() {
    return loop().nanos();
  }

  /** The time of the cluster: now is now for both. */
  record Shared(EventLoop loop) implements InstanceClock {
    @Override
    public void runInInstance(Runnable task) {
      task.run();
    }

    @Override
    public void runInCluster(Runnable news) {
      news.run();
    }
  }
}
