package dev.kvasir.tiers.disk;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.net.Threads;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The one thread of a disk store that writes the index anew when that is due.
 *
 * <p>Not the thread that syncs: a large index takes seconds, and durable copies would wait so long.
 */
final class Checkpointer {
  private static final System.Logger LOG = System.getLogger(Checkpointer.class.getName());

  /** Time until a failed write is tried again: a full disk needs time. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final DiskBlockFile blockFile;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private boolean closed;

  Checkpointer(DiskBlockFile blockFile) {
    this.blockFile = blockFile;
    this.thread = Thread.ofPlatform().name("kvasir-disk-index").daemon(true).start(this::run);
  }

  /** Looks whether the index has grown too long. */
  void wakeIfDue() {
    if (!blockFile.index().due()) return;
    lock.lock();
    try {
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Finishes the checkpoint under way, and ends. */
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
    while (awaitDue()) {
      try {
        blockFile.checkpoint();
      } catch (RuntimeException | Error e) {
        LOG.log(ERROR, "the index of a disk store could not be written anew", e);
      }
      if (blockFile.index().due()) pause();
    }
  }

  /** Waits until a checkpoint is due; returns false once this is closed. */
  private boolean awaitDue() {
    lock.lock();
    try {
      while (!closed && !blockFile.index().due()) changed.awaitUninterruptibly();
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private void pause() {
    lock.lock();
    try {
      long left = RETRY.toNanos();
      while (!closed && left > 0) left = changed.awaitNanos(left);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }
}
