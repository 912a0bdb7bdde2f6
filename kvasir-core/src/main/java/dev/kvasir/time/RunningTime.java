package dev.kvasir.time;

import java.time.Duration;

/**
 * Runs a task once its loop has run for a time. While the loop is held up, no time passes: nobody
 * is called late for what this loop had no time to hear.
 */
public final class RunningTime {
  /** A loop that is held up is taken to have run for one of so many parts of the time. */
  private static final int PARTS = 10;

  private final EventLoop loop;
  private final Duration part;
  private final Runnable task;
  private int left = PARTS;
  private Timer timer;

  private RunningTime(EventLoop loop, Duration time, Runnable task) {
    this.loop = loop;
    this.part = time.dividedBy(PARTS);
    this.task = task;
    this.timer = loop.after(part, this::pass);
  }

  /** Runs the task after the time, unless the timer is cancelled first. */
  public static Timer after(EventLoop loop, Duration time, Runnable task) {
    var running = new RunningTime(loop, time, task);
    return () -> running.timer.cancel();
  }

  private void pass() {
    left--;
    if (left == 0) task.run();
    else timer = loop.after(part, this::pass);
  }
}
