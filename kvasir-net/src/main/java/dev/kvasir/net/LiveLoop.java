package dev.kvasir.net;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.TaskQueue;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A loop in real time: one thread of its own and the machine's monotonic clock. Tasks run one at a
 * time, on that thread or, by {@link #executeHere}, on the caller's.
 *
 * <p>Every method may be called from any thread. A timer cancelled on the loop does not run; one
 * cancelled from elsewhere may be running already. An open loop keeps the process alive. Only
 * {@link #close} ends it: an interrupt does not, and neither does anything a task throws.
 */
public final class LiveLoop implements EventLoop, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(LiveLoop.class.getName());

  /**
   * Number of tasks of other callers that a caller runs after its own, before the loop's thread
   * takes over.
   */
  private static final int OTHERS_MAX = 8;

  /** A task that any caller may run. */
  private record Brief(Runnable task) implements Runnable {
    @Override
    public void run() {
      task.run();
    }
  }

  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final TaskQueue queue = new TaskQueue();
  private final Consumer<Throwable> failures;
  private final Thread thread;
  private boolean closed;

  /** The thread that runs a task; null while the loop is idle. */
  private @Nullable Thread turn;

  /**
   * Until when the loop's thread waits, unless it is woken; the beginning of time if it does not.
   */
  private long waitsUntilNanos = Long.MIN_VALUE;

  /** A loop that logs what its tasks throw. */
  public LiveLoop(String name) {
    this(name, failure -> log(name, failure));
  }

  /** A loop that hands what its tasks throw to a consumer, on its own thread. */
  public LiveLoop(String name, Consumer<Throwable> failures) {
    this(name, failures, sinceNow());
  }

  /**
   * A loop with a clock of the caller's, as to replay what happened. Who moves the clock hands in a
   * task, so that the loop looks at it.
   */
  public LiveLoop(String name, LongSupplier clock) {
    this(name, failure -> log(name, failure), clock);
  }

  private LiveLoop(String name, Consumer<Throwable> failures, LongSupplier clock) {
    this.clock = clock;
    this.failures = failures;
    thread = Thread.ofPlatform().name(name).daemon(false).unstarted(this::run);
    thread.start();
  }

  private static LongSupplier sinceNow() {
    long originNanos = System.nanoTime();
    return () -> System.nanoTime() - originNanos;
  }

  @Override
  public long nanos() {
    return clock.getAsLong();
  }

  @Override
  public void execute(Runnable task) {
    add(Duration.ZERO, task);
  }

  /**
   * Runs the task as {@link #execute} would, but at once and on the caller's own thread where the
   * loop rests, so that nobody has to be woken. Where another caller has the turn, that one runs it
   * right after its own. For tasks that are short, of callers in a hurry.
   */
  public void executeHere(Runnable task) {
    if (!acquireTurn()) {
      execute(new Brief(task));
      return;
    }
    int left = OTHERS_MAX;
    for (Runnable next = task; next != null; next = nextBrief(left--)) run(next);
  }

  private void run(Runnable task) {
    try {
      task.run();
    } catch (Throwable failure) {
      report(failure);
    }
  }

  private boolean acquireTurn() {
    lock.lock();
    try {
      if (closed || turn != null || queue.nextNanos() <= nanos()) return false;
      turn = Thread.currentThread();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** A task that came meanwhile by {@link #executeHere}; else null, and the turn is over. */
  private @Nullable Runnable nextBrief(int left) {
    lock.lock();
    try {
      boolean isBrief = left > 0 && !closed && queue.first() instanceof Brief;
      if (isBrief && queue.nextNanos() <= nanos()) return queue.remove();
      turn = null;
      if (closed || queue.nextNanos() < waitsUntilNanos) changed.signal();
      return null;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    Timer timer = add(delay, task);
    return () -> {
      lock.lock();
      try {
        timer.cancel();
      } finally {
        lock.unlock();
      }
    };
  }

  /** Returns the number of tasks that wait, whether due or not. */
  public int pending() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets the running task finish, drops what waits and waits for the thread to end; on the loop
   * itself it does not wait, for that would be for ever. Tasks handed in later are rejected.
   */
  @Override
  public void close() {
    int dropped;
    boolean inside;
    lock.lock();
    try {
      closed = true;
      inside = Thread.currentThread().equals(turn);
      dropped = queue.size();
      while (queue.size() > 0) queue.remove();
      changed.signal();
    } finally {
      lock.unlock();
    }
    LOG.log(DEBUG, "loop {0} is closed, {1} tasks dropped", thread.getName(), dropped);
    if (!inside) Threads.join(thread);
  }

  /** The clock is read under the lock, so that first come is also first due. */
  private Timer add(Duration delay, Runnable task) {
    lock.lock();
    try {
      if (closed) throw new RejectedExecutionException("loop " + thread.getName() + " is closed");
      Timer timer = queue.add(TaskQueue.due(nanos(), delay), task);
      if (turn == null && queue.nextNanos() < waitsUntilNanos) changed.signal();
      return timer;
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    for (Runnable task = next(); task != null; task = next()) run(task);
  }

  /** Waits for the next task; null once the loop is closed. */
  private @Nullable Runnable next() {
    lock.lock();
    try {
      if (thread.equals(turn)) turn = null;
      while (turn != null || !closed) {
        waitsUntilNanos = turn == null ? queue.nextNanos() : Long.MAX_VALUE;
        if (waitsUntilNanos <= nanos()) {
          turn = thread;
          return queue.remove();
        }
        try {
          var _ = changed.awaitNanos(waitsUntilNanos - nanos());
        } catch (InterruptedException e) {
          LOG.log(DEBUG, "loop {0} was interrupted, and goes on", thread.getName());
        }
      }
      return null;
    } finally {
      waitsUntilNanos = Long.MIN_VALUE;
      lock.unlock();
    }
  }

  private void report(Throwable failure) {
    try {
      failures.accept(failure);
    } catch (Throwable second) {
      log(thread.getName(), failure);
      LOG.log(ERROR, "the failure handler of loop " + thread.getName() + " failed", second);
    }
  }

  private static void log(String name, Throwable failure) {
    LOG.log(ERROR, "a task of loop " + name + " failed", failure);
  }
}
