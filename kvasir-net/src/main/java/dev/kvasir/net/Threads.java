package dev.kvasir.net;

import java.time.Duration;

/** Joins and pauses that keep an interrupt for the caller. */
public final class Threads {
  private Threads() {}

  /** Sleeps; an interrupt ends the sleep, and is kept for the caller. */
  public static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until the thread has ended; an interrupt is kept for the caller, and does not end it. */
  public static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  /**
   * Waits no longer than that for the thread to end; whether it has. Keeps an interrupt likewise.
   */
  public static boolean join(Thread thread, Duration longest) {
    boolean interrupted = false;
    long end = System.nanoTime() + longest.toNanos();
    while (thread.isAlive()) {
      long left = end - System.nanoTime();
      if (left <= 0) break;
      try {
        thread.join(Duration.ofNanos(left));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
    return !thread.isAlive();
  }
}
