package dev.kvasir.text;

import java.io.Serial;

/** A tokenizer or a template says something that is not supported here. */
public final class UnsupportedText extends Exception {
  private static final int SHOWN_MAX = 80;

  @Serial private static final long serialVersionUID = 1;

  public UnsupportedText(String message) {
    super(message);
  }

  /** A name out of a file, made safe to print: one line, not too long. */
  public static String shown(String name) {
    var text = new StringBuilder();
    name.codePoints()
        .limit(SHOWN_MAX)
        .forEach(c -> text.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return text.length() < name.length() ? text + "…" : text.toString();
  }
}
