package dev.kvasir.events;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Bounds what the events of all engines together take of the heap, from when a message is read
 * until its events are in the index; from any thread.
 *
 * <p>One engine has at most half of it, so that others are always heard; or all of it while nobody
 * else has any, so that a message which is allowed is read in a heap of any size.
 */
public final class EventRoom {
  private static final long BYTES_MIN = 32 << 20;
  private static final int HEAP_SHARE = 8;

  private final long bytesMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition given = lock.newCondition();
  private long taken;

  public EventRoom(long bytesMax) {
    if (bytesMax < 1) throw new IllegalArgumentException("room for " + bytesMax + " bytes");
    this.bytesMax = bytesMax;
  }

  /** An eighth of the heap, but no less than the largest message needs. */
  public static EventRoom ofHeap() {
    return new EventRoom(Math.max(BYTES_MIN, Runtime.getRuntime().maxMemory() / HEAP_SHARE));
  }

  /** Returns how many bytes are in use. */
  long taken() {
    lock.lock();
    try {
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** The share that one engine has of it. */
  final class Share implements AutoCloseable {
    private long held;
    private boolean closed;

    /** Waits until there is room for so many more; false after the end. */
    boolean take(long bytes) {
      lock.lock();
      try {
        while (!closed && !fits(bytes)) given.awaitUninterruptibly();
        if (closed) return false;
        held += bytes;
        taken += bytes;
        return true;
      } finally {
        lock.unlock();
      }
    }

    private boolean fits(long bytes) {
      if (taken == 0) return true;
      return taken + bytes <= bytesMax && held + bytes <= bytesMax / 2;
    }

    /** Gives some of it back. */
    void give(long bytes) {
      lock.lock();
      try {
        if (closed) return;
        if (bytes > held) throw new IllegalStateException(bytes + " bytes of " + held);
        held -= bytes;
        taken -= bytes;
        given.signalAll();
      } finally {
        lock.unlock();
      }
    }

    /** Gives all of it back, and takes no more. */
    @Override
    public void close() {
      lock.lock();
      try {
        closed = true;
        taken -= held;
        held = 0;
        given.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
