package dev.kvasir.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;

/**
 * Writes what is logged as usual, but no name that somebody else chose can begin a line: control
 * characters of messages are written as Java does, and the lines of stack traces are indented.
 */
public final class LineFormatter extends SimpleFormatter {
  private static final char DELETE = 0x7f;
  private static final char CONTROLS_END = 0xa0;

  @Override
  public String format(LogRecord event) {
    var thrown = event.getThrown();
    if (thrown == null) return super.format(event);
    event.setThrown(null);
    try {
      return super.format(event) + trace(thrown);
    } finally {
      event.setThrown(thrown);
    }
  }

  @Override
  public String formatMessage(LogRecord event) {
    return visible(super.formatMessage(event));
  }

  private static String trace(Throwable failure) {
    var trace = new StringWriter();
    failure.printStackTrace(new PrintWriter(trace));
    var text = new StringBuilder();
    for (var line : trace.toString().lines().toList()) {
      text.append('\t').append(visible(line.replace("\t", "  "))).append(System.lineSeparator());
    }
    return text.toString();
  }

  /** The text without characters that end a line or steer a terminal. */
  static String visible(String text) {
    var out = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      switch (each) {
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (steers(each)) out.append("\\u%04x".formatted((int) each));
          else out.append(each);
        }
      }
    }
    return out.toString();
  }

  private static boolean steers(char each) {
    if (each < ' ' || (each >= DELETE && each < CONTROLS_END)) return true;
    int type = Character.getType(each);
    return type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR
        || type == Character.FORMAT;
  }
}
