package dev.kvasir.tierd.resp;

/** Bounds the words of all commands that are being read or answered; from any thread. */
final class RespBudget {
  private static final long BYTES_MIN = 4 << 20;
  private static final int HEAP_SHARE = 16;

  private final long bytesMax;
  private long taken;

  RespBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  static RespBudget ofHeap() {
    return new RespBudget(Math.max(BYTES_MIN, Runtime.getRuntime().maxMemory() / HEAP_SHARE));
  }

  /** Takes so many, or nothing. */
  synchronized boolean take(long bytes) {
    if (taken + bytes > bytesMax) return false;
    taken += bytes;
    return true;
  }

  synchronized void give(long bytes) {
    taken -= bytes;
    if (taken < 0) throw new IllegalStateException("given back more than was taken");
  }
}
