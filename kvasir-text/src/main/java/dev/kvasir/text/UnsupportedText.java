package dev.kvasir.text;

import java.io.Serial;

/** A tokenizer or a template uses a feature that is not supported. */
public final class UnsupportedText extends Exception {
  private static final int SHOWN_MAX = 80;

  @Serial private static final long serialVersionUID = 1;

  public UnsupportedText(String message) {
    super(message);
  }

  /** A name from a file, made safe to print: one line of limited length. */
  public static String shown(String name) {
    var text = new StringBuilder();
    name.codePoints()
        .limit(SHOWN_MAX)
        .forEach(c -> text.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return text.length() < name.length() ? text + "…" : text.toString();
  }
}
