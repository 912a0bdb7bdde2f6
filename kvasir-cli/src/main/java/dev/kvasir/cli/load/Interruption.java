package dev.kvasir.cli.load;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Lets a command that is interrupted from the keyboard say first what it found so far. */
final class Interruption implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 3;

  private final CountDownLatch said = new CountDownLatch(1);
  private final Thread hook;

  private Interruption(Runnable stop) {
    hook = new Thread(() -> interrupted(stop), "interruption");
  }

  /**
   * From now on until it is closed.
   *
   * @param stop brings the command to its end
   */
  static Interruption of(Runnable stop) {
    var interruption = new Interruption(stop);
    Runtime.getRuntime().addShutdownHook(interruption.hook);
    return interruption;
  }

  private void interrupted(Runnable stop) {
    stop.run();
    try {
      var _ = said.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    said.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending, and the hook is what ends it.
    }
  }
}
