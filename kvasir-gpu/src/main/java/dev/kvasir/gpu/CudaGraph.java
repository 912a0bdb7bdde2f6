package dev.kvasir.gpu;

/** Work that was captured from a stream once, and is launched as one. */
public final class CudaGraph implements AutoCloseable {
  private final CudaHandle handle;

  CudaGraph(CudaHandle handle) {
    this.handle = handle;
  }

  long handle() {
    return handle.value();
  }

  @Override
  public void close() throws CudaFailure {
    handle.close();
  }
}
