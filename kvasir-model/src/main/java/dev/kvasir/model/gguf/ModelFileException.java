package dev.kvasir.model.gguf;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;

/** Says in one line which model file cannot be used, why, and what to do about it. */
public final class ModelFileException extends IOException {
  @Serial private static final long serialVersionUID = 1;

  public ModelFileException(Path file, String wrong, String remedy) {
    super("model file " + file + ": " + wrong + "; " + remedy);
  }
}
