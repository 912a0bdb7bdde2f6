package dev.kvasir.gpu.library;

import java.io.IOException;

/** A call of one of NVIDIA's libraries that failed. */
public final class LibraryFailure extends IOException {
  private static final long serialVersionUID = 1;

  LibraryFailure(String message) {
    super(message);
  }
}
