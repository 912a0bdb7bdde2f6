package dev.kvasir.live;

/** What the live parts need of threads beyond the JDK. */
public final class Threads {
  private Threads() {}

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
}
