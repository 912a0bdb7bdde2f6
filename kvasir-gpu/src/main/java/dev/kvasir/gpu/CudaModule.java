package dev.kvasir.gpu;

import java.lang.foreign.Arena;

/** Kernels that the driver has compiled and loaded. */
public final class CudaModule implements AutoCloseable {
  /** One kernel; gone with its module. */
  public record Kernel(long handle) {}

  private final CudaDriver driver;
  private final CudaHandle handle;

  CudaModule(CudaDriver driver, CudaHandle handle) {
    this.driver = driver;
    this.handle = handle;
  }

  public Kernel kernel(String name) throws CudaFailure {
    try (var arena = Arena.ofConfined()) {
      long text = arena.allocateFrom(name).address();
      return new Kernel(driver.word(CudaCall.MODULE_FUNCTION, handle.value(), text));
    }
  }

  @Override
  public void close() throws CudaFailure {
    handle.close();
  }
}
