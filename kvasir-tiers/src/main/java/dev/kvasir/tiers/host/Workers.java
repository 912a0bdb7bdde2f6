package dev.kvasir.tiers.host;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.net.Threads;
import dev.kvasir.offload.store.CopyOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A few threads of one store that take copies from its queue until that is closed. */
public final class Workers {
  private static final System.Logger LOG = System.getLogger(Workers.class.getName());

  private final List<Thread> threads = new ArrayList<>();

  /** Starts the threads; each takes at most so many tasks at a time. */
  public Workers(
      String name,
      int threads,
      CopyQueue queue,
      int tasksMax,
      Consumer<List<CopyQueue.Task>> work) {
    this(Thread.ofPlatform().daemon(true), name, threads, queue, tasksMax, work);
  }

  /** Starts threads of that kind. */
  public Workers(
      Thread.Builder kind,
      String name,
      int threads,
      CopyQueue queue,
      int tasksMax,
      Consumer<List<CopyQueue.Task>> work) {
    kind.name("kvasir-" + name + "-", 0);
    for (int i = 0; i < threads; i++) {
      this.threads.add(kind.start(() -> run(queue, tasksMax, work)));
    }
  }

  /** Waits until all threads have ended, which they do once the queue is closed. */
  public void join() {
    for (var thread : threads) Threads.join(thread);
  }

  private static void run(CopyQueue queue, int tasksMax, Consumer<List<CopyQueue.Task>> work) {
    for (var tasks = queue.next(tasksMax); !tasks.isEmpty(); tasks = queue.next(tasksMax)) {
      try {
        work.accept(tasks);
      } catch (RuntimeException | Error e) {
        // The work answers for each task by itself; whatever happens, none keeps its slots.
        LOG.log(ERROR, "a thread of a store failed and continues", e);
        for (var task : tasks) queue.answer(task, new CopyOutcome.Failed("it threw " + e));
      }
    }
  }
}
