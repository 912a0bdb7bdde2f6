package dev.kvasir.gpu;

import java.io.IOException;

/** A call of NVIDIA's driver that failed: which, with what error, and what to do about it. */
public final class CudaFailure extends IOException {
  private static final long serialVersionUID = 1;

  private final String call;
  private final int error;

  CudaFailure(String call, int error, String name, String text) {
    super(
        "%s failed with CUDA error %s (%s: %s): %s"
            .formatted(call, error, name, text, CudaError.of(error).advice()));
    this.call = call;
    this.error = error;
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  public String call() {
    return call;
  }

  /** The driver's number for it. */
  public int error() {
    return error;
  }

  /** Returns what to do about the failure. */
  public String advice() {
    return CudaError.of(error).advice();
  }

  /** Returns whether everything on this GPU will fail from now on. */
  public boolean isContextLost() {
    return CudaError.isContextLost(error);
  }
}
