package dev.kvasir.offload.store;

import dev.kvasir.Nullable;
import dev.kvasir.time.EventLoop;
import java.util.SequencedCollection;

/**
 * Runs callbacks so that their exceptions stop nothing else.
 *
 * <p>An exception is thrown again in a task of the loop, which reports it like any other.
 */
public final class Callbacks {
  private final EventLoop loop;

  public Callbacks(EventLoop loop) {
    this.loop = loop;
  }

  /** Runs the task, and reports what it throws. */
  public void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error failure) {
      report(failure);
    }
  }

  public void report(Throwable failure) {
    loop.execute(() -> rethrow(failure));
  }

  /**
   * Removes and runs one task after the other; the first exception is thrown when all have run. A
   * task may remove others.
   */
  public static void drain(SequencedCollection<Runnable> tasks) {
    Throwable first = null;
    while (!tasks.isEmpty()) {
      try {
        tasks.removeFirst().run();
      } catch (RuntimeException | Error failure) {
        if (first == null) first = failure;
        else if (!failure.equals(first)) first.addSuppressed(failure);
      }
    }
    rethrow(first);
  }

  private static void rethrow(@Nullable Throwable failure) {
    if (failure instanceof RuntimeException e) throw e;
    if (failure instanceof Error e) throw e;
  }
}
