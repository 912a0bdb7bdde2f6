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
  private long reserved;

  public EventRoom(long bytesMax) {
    if (bytesMax < 1) throw new IllegalArgumentException("room for " + bytesMax + " bytes");
    this.bytesMax = bytesMax;
  }

  /** An eighth of the heap, but no less than the largest message needs. */
  public static EventRoom ofHeap() {
    return new EventRoom(Math.max(BYTES_MIN, Runtime.getRuntime().maxMemory() / HEAP_SHARE));
  }

  /** Returns how many bytes are in use. */
  long reserved() {
    lock.lock();
    try {
      return reserved;
    } finally {
      lock.unlock();
    }
  }

  /** The share that one engine has of it. */
  final class Share implements AutoCloseable {
    private long held;
    private boolean closed;

    /** Reserves bytes and waits until they are free; returns false after the end. */
    boolean reserve(long bytes) {
      lock.lock();
      try {
        while (!closed && !fits(bytes)) given.awaitUninterruptibly();
        if (closed) return false;
        held += bytes;
        reserved += bytes;
        return true;
      } finally {
        lock.unlock();
      }
    }

    private boolean fits(long bytes) {
      if (reserved == 0) return true;
      return reserved + bytes <= bytesMax && held + bytes <= bytesMax / 2;
    }

    /** Gives some of it back. */
    void give(long bytes) {
      lock.lock();
      try {
        if (closed) return;
        if (bytes > held) throw new IllegalStateException(bytes + " bytes of " + held);
        held -= bytes;
        reserved -= bytes;
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
        reserved -= held;
        held = 0;
        given.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
