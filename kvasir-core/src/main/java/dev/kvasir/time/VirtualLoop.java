package dev.kvasir.time;

import java.time.Duration;

/**
 * A loop in virtual time: the clock stands still while a task runs, and jumps to the next one.
 *
 * <p>An exception of a task propagates from the method that ran it. The other tasks still wait, and
 * the loop may be run again.
 */
public final class VirtualLoop implements EventLoop {
  private final TaskQueue queue = new TaskQueue();
  private long nanos;
  private boolean running;

  @Override
  public long nanos() {
    return nanos;
  }

  @Override
  public void execute(Runnable task) {
    queue.add(nanos, task);
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    return queue.add(TaskQueue.due(nanos, delay), task);
  }

  @Override
  public Timer afterNanos(long delay, Runnable task) {
    return queue.add(TaskQueue.due(nanos, delay), task);
  }

  /**
   * A view of this loop with lower priority: of tasks due at the same time, those of a lower lane
   * run first. The loop itself is lane 0.
   */
  public EventLoop lane(int lane) {
    if (lane < 0) throw new IllegalArgumentException("lane " + lane);
    return new Lane(lane);
  }

  private final class Lane implements EventLoop {
    private final int lane;

    Lane(int lane) {
      this.lane = lane;
    }

    @Override
    public long nanos() {
      return nanos;
    }

    @Override
    public void execute(Runnable task) {
      queue.add(nanos, lane, task);
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
      return queue.add(TaskQueue.due(nanos, delay), lane, task);
    }

    @Override
    public Timer afterNanos(long delay, Runnable task) {
      return queue.add(TaskQueue.due(nanos, delay), lane, task);
    }
  }

  /** Returns the number of tasks that wait, whether due or not. */
  public int pending() {
    return queue.size();
  }

  /** When the next task is due; the end of time if there is none. */
  public long nextNanos() {
    return queue.nextNanos();
  }

  /** Runs the next task; false if there is none. */
  public boolean step() {
    refuseTasks();
    if (queue.size() == 0) return false;
    nanos = queue.nextNanos();
    Runnable task = queue.remove();
    running = true;
    try {
      task.run();
    } finally {
      running = false;
    }
    return true;
  }

  /** Runs until no task waits. The limit stops an endless run. */
  public void run(long tasksMax) {
    if (tasksMax < 0) throw new IllegalArgumentException("at most " + tasksMax + " tasks");
    for (long tasks = 0; tasks < tasksMax; tasks++) {
      if (!step()) return;
    }
    if (queue.size() > 0) {
      throw new IllegalStateException(
          "still busy after " + tasksMax + " tasks, at " + nanos + " ns, pending " + queue.size());
    }
  }

  /** Runs all tasks due up to and including that time, and advances the clock to it. */
  public void runUntil(long endNanos) {
    refuseTasks();
    if (endNanos < nanos) {
      throw new IllegalArgumentException("from " + nanos + " ns back to " + endNanos + " ns");
    }
    while (queue.size() > 0 && queue.nextNanos() <= endNanos) step();
    nanos = endNanos;
  }

  /** Advances the clock to that time. No task may be due before it. */
  public void passTo(long endNanos) {
    refuseTasks();
    if (endNanos < nanos || queue.nextNanos() < endNanos) {
      throw new IllegalArgumentException(
          "from %d ns to %d ns, with a task at %d ns"
              .formatted(nanos, endNanos, queue.nextNanos()));
    }
    nanos = endNanos;
  }

  /** Runs all tasks that are due within that time from now. */
  public void runFor(Duration time) {
    runUntil(TaskQueue.due(nanos, time));
  }

  /** Tasks must not overlap, so a task must not run the loop. */
  private void refuseTasks() {
    if (running) throw new IllegalStateException("a task at " + nanos + " ns runs its own loop");
  }
}
