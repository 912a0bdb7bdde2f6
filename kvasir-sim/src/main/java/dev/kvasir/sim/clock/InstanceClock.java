package dev.kvasir.sim.clock;

import dev.kvasir.time.EventLoop;

/** The time of one instance, and its way from and to the rest of the cluster. */
public sealed interface InstanceClock permits InstanceClock.Shared, OwnClock {
  /** Returns the event loop on which the instance does its work. */
  EventLoop loop();

  /** The cluster wants this done at the instance, now. */
  void ask(Runnable task);

  /** The instance wants this done in the cluster, now. */
  void tell(Runnable news);

  default long nanos() {
    return loop().nanos();
  }

  /** The time of the cluster: now is now for both. */
  record Shared(EventLoop loop) implements InstanceClock {
    @Override
    public void ask(Runnable task) {
      task.run();
    }

    @Override
    public void tell(Runnable news) {
      news.run();
    }
  }
}
