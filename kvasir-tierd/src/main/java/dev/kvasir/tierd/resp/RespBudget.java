package dev.kvasir.tierd.resp;

/** Bounds the words of all commands that are being read or answered; from any thread. */
final class RespBudget {
  private static final long BYTES_MIN = 4 << 20;
  private static final int HEAP_SHARE = 16;

  private final long bytesMax;
  private long reserved;

  RespBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  static RespBudget ofHeap() {
    return new RespBudget(Math.max(BYTES_MIN, Runtime.getRuntime().maxMemory() / HEAP_SHARE));
  }

  /** Reserves all of these bytes, or none. */
  synchronized boolean reserve(long bytes) {
    if (reserved + bytes > bytesMax) return false;
    reserved += bytes;
    return true;
  }

  synchronized void give(long bytes) {
    reserved -= bytes;
    if (reserved < 0) throw new IllegalStateException("given back more than was taken");
  }
}
