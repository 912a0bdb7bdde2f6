package dev.kvasir.tiers.disk;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.net.Threads;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.tiers.host.CopyQueue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The one thread of a disk store that syncs.
 *
 * <p>What is handed in while a sync runs goes with the next one, all together: so many blocks cost
 * one sync.
 */
final class Committer {
  private static final System.Logger LOG = System.getLogger(Committer.class.getName());

  /** A copy whose bytes are written, and which is answered when they are durable. */
  record Pending(CopyQueue.Task task, DiskBlockFile.Written written) {}

  private final DiskBlockFile blockFile;
  private final BiConsumer<CopyQueue.Task, CopyOutcome> answers;
  private final int syncsMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private List<Pending> pending = new ArrayList<>();
  private List<Consumer<CopyOutcome>> syncs = new ArrayList<>();
  private boolean closed;

  Committer(
      DiskBlockFile blockFile, int syncsMax, BiConsumer<CopyQueue.Task, CopyOutcome> answers) {
    this.blockFile = blockFile;
    this.answers = answers;
    this.syncsMax = syncsMax;
    this.thread = Thread.ofPlatform().name("kvasir-disk-commit").daemon(true).unstarted(this::run);
    thread.start();
  }

  /** Commits the copy; the queue of copies bounds how many there are. */
  void commit(CopyQueue.Task task, DiskBlockFile.Written written) {
    lock.lock();
    try {
      pending.add(new Pending(task, written));
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Syncs what is stored; answers on the committer's thread, or here if too many wait. */
  void sync(Consumer<CopyOutcome> done) {
    String refusal;
    lock.lock();
    try {
      refusal = closed ? "the store is closed" : "queue full: " + syncsMax + " syncs wait";
      if (!closed && syncs.size() < syncsMax) {
        syncs.add(done);
        changed.signal();
        return;
      }
    } finally {
      lock.unlock();
    }
    done.accept(new Failed(refusal));
  }

  /** Commits what is there, and ends; the threads that hand in have ended before. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
    Threads.join(thread);
  }

  private void run() {
    while (true) {
      List<Pending> blocks;
      List<Consumer<CopyOutcome>> waiting;
      lock.lock();
      try {
        while (!closed && pending.isEmpty() && syncs.isEmpty()) {
          changed.awaitUninterruptibly();
        }
        if (closed && pending.isEmpty() && syncs.isEmpty()) return;
        blocks = pending;
        waiting = syncs;
        pending = new ArrayList<>();
        syncs = new ArrayList<>();
      } finally {
        lock.unlock();
      }
      commit(blocks, waiting);
    }
  }

  private void commit(List<Pending> blocks, List<Consumer<CopyOutcome>> waiting) {
    if (!blocks.isEmpty()) {
      var outcomes = outcomes(blocks);
      for (int i = 0; i < blocks.size(); i++) {
        var task = blocks.get(i).task();
        var outcome = outcomes.get(i);
        guard("answering a copy", () -> answers.accept(task, outcome));
      }
    }
    if (waiting.isEmpty()) return;
    var outcome = synced();
    for (var done : waiting) guard("answering a sync", () -> done.accept(outcome));
  }

  /**
   * One outcome for each, whatever is thrown: a copy without an answer holds its slots for good.
   */
  private List<CopyOutcome> outcomes(List<Pending> blocks) {
    try {
      return blockFile.commit(blocks.stream().map(Pending::written).toList());
    } catch (RuntimeException | Error e) {
      LOG.log(ERROR, "a commit of " + blocks.size() + " blocks failed", e);
      return Collections.nCopies(blocks.size(), new Failed("disk commit: " + e));
    }
  }

  private CopyOutcome synced() {
    try {
      return blockFile.sync();
    } catch (RuntimeException | Error e) {
      LOG.log(ERROR, "a sync of the disk tier failed", e);
      return new Failed("disk sync: " + e);
    }
  }

  private static void guard(String what, Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.log(ERROR, what + " failed", e);
    }
  }
}
