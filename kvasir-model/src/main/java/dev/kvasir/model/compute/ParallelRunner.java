package dev.kvasir.model.compute;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A fixed number of threads that run the units of one task at a time; the caller is one of them.
 *
 * <p>An idle thread first spins for a moment, since the next task usually follows at once and
 * waking up takes longer than many tasks; then it parks. The caller waits only for units that have
 * begun, so a thread that gets no CPU time delays nobody.
 */
public final class ParallelRunner implements AutoCloseable {
  private static final int THREADS_MAX = 256;

  /** As long as waking a thread takes, so that spinning at most doubles the wait. */
  private static final long LOOKOUT_NANOS = 50_000;

  private final List<Thread> threads = new ArrayList<>();
  private volatile @Nullable Task task;
  private volatile boolean closed;

  /** Work in numbered units, which may be done in any order and by any thread. */
  @FunctionalInterface
  public interface Work {
    /** Does one unit; the worker is from 0 to the number of threads, and alone with its number. */
    void unit(int unit, int worker);
  }

  /** One task, which counts the units that were begun and done. */
  private static final class Task {
    private final int units;
    private final Work work;
    private final Thread caller = Thread.currentThread();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private Task(int units, Work work) {
      this.units = units;
      this.work = work;
    }

    private void share(int worker) {
      for (int unit = next.getAndIncrement(); unit < units; unit = next.getAndIncrement()) {
        try {
          work.unit(unit, worker);
        } catch (RuntimeException | Error e) {
          failure.compareAndSet(null, e);
        }
        if (done.incrementAndGet() == units && worker > 0) LockSupport.unpark(caller);
      }
    }
  }

  public ParallelRunner(String name, int threads) {
    if (threads < 1 || threads > THREADS_MAX) {
      throw new IllegalArgumentException(
          name + " of " + threads + " threads, expected 1 to " + THREADS_MAX);
    }
    for (int i = 1; i < threads; i++) {
      int worker = i;
      this.threads.add(
          Thread.ofPlatform()
              .name("kvasir-" + name + "-" + i)
              .daemon(true)
              .start(() -> serve(worker)));
    }
  }

  /** Returns the number of threads, including the caller. */
  public int size() {
    return threads.size() + 1;
  }

  /** Does all units, by the caller alone. */
  public static void alone(int units, Work work) {
    for (int unit = 0; unit < units; unit++) work.unit(unit, 0);
  }

  /** Does all units; when it returns they are done, and what they wrote is seen. */
  public void run(int units, Work work) {
    if (threads.isEmpty() || units < 2) {
      alone(units, work);
      return;
    }
    var mine = new Task(units, work);
    task = mine;
    for (int i = 0; i < Math.min(threads.size(), units - 1); i++) {
      LockSupport.unpark(threads.get(i));
    }
    mine.share(0);
    await(() -> mine.done.get() == units);
    task = null;
    var failure = mine.failure.get();
    if (failure instanceof RuntimeException e) throw e;
    if (failure instanceof Error e) throw e;
  }

  private void serve(int worker) {
    while (!closed) {
      await(() -> closed || isWaiting(task));
      var current = task;
      if (current != null) current.share(worker);
    }
  }

  private static boolean isWaiting(@Nullable Task task) {
    return task != null && task.next.get() < task.units;
  }

  /** Returns when it is so; whoever makes it so wakes the thread. */
  private void await(BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - begun < LOOKOUT_NANOS) Thread.onSpinWait();
      else LockSupport.park(this);
    }
  }

  @Override
  public void close() {
    closed = true;
    threads.forEach(LockSupport::unpark);
    threads.forEach(ParallelRunner::join);
  }

  /** Waits until the thread has ended; an interrupt is kept for the caller, and does not end it. */
  private static void join(Thread thread) {
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
