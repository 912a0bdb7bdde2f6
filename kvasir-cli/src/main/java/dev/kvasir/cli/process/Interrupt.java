package dev.kvasir.cli.process;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Ends a command in order when it is interrupted, from the keyboard or otherwise. */
public final class Interrupt implements AutoCloseable {
  private final CountDownLatch over = new CountDownLatch(1);
  private final Duration patience;
  private final Thread hook;

  private Interrupt(Runnable stop, Duration patience) {
    this.patience = patience;
    this.hook = Thread.ofPlatform().name("kvasir-stop").unstarted(() -> interrupted(stop));
  }

  /**
   * From now on until it is closed.
   *
   * @param stop brings the command to its end
   * @param patience how long that may take
   */
  public static Interrupt of(Runnable stop, Duration patience) {
    var interrupt = new Interrupt(stop, patience);
    Runtime.getRuntime().addShutdownHook(interrupt.hook);
    return interrupt;
  }

  private void interrupted(Runnable stop) {
    stop.run();
    try {
      var _ = over.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The command has ended. */
  @Override
  public void close() {
    over.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending, and the hook is what ends it.
    }
  }
}
