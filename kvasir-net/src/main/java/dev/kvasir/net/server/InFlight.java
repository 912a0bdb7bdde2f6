package dev.kvasir.net.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The requests under way at a server, which can be waited for; from any thread. */
public final class InFlight {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final AtomicInteger count = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition quiet = lock.newCondition();
  private volatile boolean draining;

  public int count() {
    return count.get();
  }

  /** Counted before {@link #isDraining} is asked, a request is waited for or sees the drain. */
  public void begins() {
    count.incrementAndGet();
  }

  public void ends() {
    if (count.decrementAndGet() > 0 || !draining) return;
    lock.lock();
    try {
      quiet.signalAll();
    } finally {
      lock.unlock();
    }
  }

  public boolean isDraining() {
    return draining;
  }

  /** Waits until no request is under way, as long as there is patience. */
  public void drain(Duration patience) {
    lock.lock();
    try {
      draining = true;
      long leftNanos = patience.toNanos();
      while (count.get() > 0 && leftNanos > 0) {
        // Looks again now and then: the last one may have ended before draining began.
        long nanos = Math.min(leftNanos, LOOK_NANOS);
        leftNanos -= nanos - Math.max(0, quiet.awaitNanos(nanos));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  /** Takes requests again. */
  public void resume() {
    draining = false;
  }
}
