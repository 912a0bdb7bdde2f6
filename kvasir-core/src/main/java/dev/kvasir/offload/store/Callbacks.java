package dev.kvasir.offload.store;

import dev.kvasir.Nullable;
import dev.kvasir.time.EventLoop;
import java.util.SequencedCollection;

/**
 * Calls other people's code so that what it throws stops nothing else.
 *
 * <p>A failure becomes a task of the loop that throws it, so the loop reports it as it reports
 * every other one.
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
   * Takes out and runs one task after the other, whatever they throw; the first failure is thrown
   * when all have run. What a task does may take others out.
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
