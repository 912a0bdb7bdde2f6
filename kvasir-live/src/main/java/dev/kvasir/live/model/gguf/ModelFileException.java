package dev.kvasir.live.model.gguf;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;

/** Says in one line which model file cannot be used, why, and what to do about it. */
public final class ModelFileException extends IOException {
  private static final int SHOWN_MAX = 80;

  @Serial private static final long serialVersionUID = 1;

  public ModelFileException(Path file, String wrong, String remedy) {
    super("model file " + file + ": " + wrong + "; " + remedy);
  }

  /** A name out of the file, made safe to print: one line, not too long. */
  public static String shown(String name) {
    var text = new StringBuilder();
    name.codePoints()
        .limit(SHOWN_MAX)
        .forEach(c -> text.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return text.length() < name.length() ? text + "…" : text.toString();
  }
}
