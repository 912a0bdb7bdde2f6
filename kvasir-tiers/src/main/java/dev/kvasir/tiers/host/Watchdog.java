package dev.kvasir.tiers.host;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts a thread whose call takes too long.
 *
 * <p>For virtual threads, and for all that use channels: those leave a socket when they are
 * interrupted, and close it. The timeouts of sockets are not enough: writing has none, and each
 * byte that arrives restarts the one for reading.
 */
public final class Watchdog implements AutoCloseable {
  private final ScheduledThreadPoolExecutor timer;

  public Watchdog(String name) {
    timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("kvasir-" + name + "-watchdog").daemon(true).factory());
    timer.setRemoveOnCancelPolicy(true);
  }

  /** Does the work; it ends with an exception if that takes too long. */
  public <T> T within(Duration limit, Callable<T> work) throws Exception {
    var turn = new Turn(Thread.currentThread());
    var alarm = timer.schedule(turn::expire, limit.toNanos(), TimeUnit.NANOSECONDS);
    try {
      return work.call();
    } catch (Exception e) {
      if (turn.end()) throw new IOException("no answer in " + limit.toMillis() + " ms", e);
      throw e;
    } finally {
      alarm.cancel(false);
      turn.end();
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  /** One piece of work; the interrupt comes during it or not at all. */
  private static final class Turn {
    private final Thread thread;
    private boolean over;
    private boolean expired;

    Turn(Thread thread) {
      this.thread = thread;
    }

    synchronized void expire() {
      if (over) return;
      expired = true;
      thread.interrupt();
    }

    /** Ends the turn; returns whether its time was up before the work was done. */
    synchronized boolean end() {
      // What is left of the interrupt must not hit whatever the thread does next.
      if (!over && expired) Thread.interrupted();
      over = true;
      return expired;
    }
  }
}
