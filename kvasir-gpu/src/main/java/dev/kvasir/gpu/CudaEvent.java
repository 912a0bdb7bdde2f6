package dev.kvasir.gpu;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;

/** A mark in a stream of the GPU. */
public final class CudaEvent implements AutoCloseable {
  private final CudaDriver driver;
  private final CudaHandle handle;

  CudaEvent(CudaDriver driver, CudaHandle handle) {
    this.driver = driver;
    this.handle = handle;
  }

  long handle() {
    return handle.value();
  }

  /** Returns, without waiting, whether all that was in the stream before the event is done. */
  public boolean isReached() throws CudaFailure {
    int error = driver.result(CudaCall.EVENT_QUERY, handle.value());
    if (error == 0) return true;
    if (error == CudaError.NOT_READY) return false;
    throw driver.failure(CudaCall.EVENT_QUERY, error);
  }

  /** Waits until all that was in the stream before it is done. */
  public void await() throws CudaFailure {
    driver.call(CudaCall.EVENT_AWAIT, handle.value());
  }

  /** The milliseconds from another mark to this one; both timed, and reached. */
  public double millisSince(CudaEvent earlier) throws CudaFailure {
    try (var arena = Arena.ofConfined()) {
      var millis = arena.allocate(JAVA_FLOAT);
      driver.call(CudaCall.EVENT_ELAPSED, millis.address(), earlier.handle.value(), handle.value());
      return millis.get(JAVA_FLOAT, 0);
    }
  }

  @Override
  public void close() throws CudaFailure {
    handle.close();
  }
}
