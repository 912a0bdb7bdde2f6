package dev.kvasir.gpu;

import java.lang.foreign.Arena;

/** Kernels that the driver has compiled and loaded. */
public final class CudaModule implements AutoCloseable {
  private static final int ATTRIBUTE_SHARED_BYTES = 8;

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

  /** A kernel that gets so many bytes of shared memory at launch. */
  public Kernel kernel(String name, int sharedBytes) throws CudaFailure {
    var kernel = kernel(name);
    driver.call(CudaCall.KERNEL_ATTRIBUTE, kernel.handle(), ATTRIBUTE_SHARED_BYTES, sharedBytes);
    return kernel;
  }

  @Override
  public void close() throws CudaFailure {
    handle.close();
  }
}
