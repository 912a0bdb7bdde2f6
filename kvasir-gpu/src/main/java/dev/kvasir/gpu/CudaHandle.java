package dev.kvasir.gpu;

/** A resource of the driver, which is released once. */
public final class CudaHandle implements AutoCloseable {
  /** Releases the resource. */
  interface GiveBack {
    void run() throws CudaFailure;
  }

  private final long value;
  private final GiveBack giveBack;
  private boolean closed;

  CudaHandle(long value, GiveBack giveBack) {
    this.value = value;
    this.giveBack = giveBack;
  }

  /** The number or address, while it is open. */
  public long value() {
    if (closed) throw new IllegalStateException("handle " + value + " is closed");
    return value;
  }

  @Override
  public void close() throws CudaFailure {
    if (closed) return;
    closed = true;
    giveBack.run();
  }
}
