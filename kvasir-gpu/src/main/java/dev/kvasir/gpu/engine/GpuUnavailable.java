package dev.kvasir.gpu.engine;

import java.io.IOException;

/** A model cannot run on a GPU here; the message says why, and what to do. */
public final class GpuUnavailable extends IOException {
  private static final long serialVersionUID = 1;

  GpuUnavailable(String message) {
    super(message);
  }

  GpuUnavailable(String message, Throwable cause) {
    super(message, cause);
  }
}
