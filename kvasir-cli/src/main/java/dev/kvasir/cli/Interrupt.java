package dev.kvasir.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Waits for Ctrl-C or a request to stop, and then holds the process until all is closed. */
public final class Interrupt implements AutoCloseable {
  private static final Duration CLOSING_MAX = Duration.ofMinutes(2);

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  public Interrupt() {
    var hook = Thread.ofPlatform().name("kvasir-stop").unstarted(this::stop);
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void stop() {
    asked.countDown();
    try {
      var _ = closed.await(CLOSING_MAX.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public void await() throws InterruptedException {
    asked.await();
  }

  /** All is closed: the process may end. */
  @Override
  public void close() {
    closed.countDown();
  }
}
