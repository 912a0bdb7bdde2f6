package dev.kvasir.live.http;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes that many take from, and give back; from any thread. */
final class ByteBudget {
  private final long bytesMax;
  private final AtomicLong taken = new AtomicLong();

  ByteBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Whether there were as many left. */
  boolean take(long bytes) {
    if (taken.addAndGet(bytes) <= bytesMax) return true;
    taken.addAndGet(-bytes);
    return false;
  }

  void give(long bytes) {
    long left = taken.addAndGet(-bytes);
    if (left < 0) throw new IllegalStateException(bytes + " bytes given back, " + left + " taken");
  }

  long taken() {
    return taken.get();
  }
}
