package dev.kvasir.gpu.library;

import java.io.IOException;

/** A library of NVIDIA's that is not installed, or too old. */
public final class LibraryMissing extends IOException {
  private static final long serialVersionUID = 1;

  LibraryMissing(String message) {
    super(message);
  }
}
