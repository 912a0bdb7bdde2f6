package dev.kvasir.embedded.step;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** The thread that runs the steps of all engines of a model, one at a time. */
public final class StepThread implements AutoCloseable {
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("kvasir-steps").daemon(true).factory());
  private long freeNanos;

  /**
   * Runs it after all that came before.
   *
   * @param requestedNanos since when somebody waits for it
   * @param task hears when its turn began: when it was asked for, or when the one before was over.
   *     What it took the thread to wake up counts to the turn
   */
  public void turn(long requestedNanos, LongConsumer task) {
    thread.execute(
        () -> {
          task.accept(Math.max(requestedNanos, freeNanos));
          freeNanos = System.nanoTime();
        });
  }

  /** Ends after the step that runs: it writes into memory that is about to be given back. */
  @Override
  public void close() {
    thread.shutdown();
    while (true) {
      try {
        if (thread.awaitTermination(1, TimeUnit.MINUTES)) return;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
