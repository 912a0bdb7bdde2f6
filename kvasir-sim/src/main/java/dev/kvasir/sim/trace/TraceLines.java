package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;

/** Reads the lines of a trace that are not blank, up to a maximum length. */
final class TraceLines {
  static final int BYTES_MAX = 8 << 20;

  private static final int GZIP_FIRST = 0x1f;
  private static final int GZIP_SECOND = 0x8b;
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private final String name;
  private final InputStream input;
  private byte[] buffer = new byte[1 << 16];
  private int filled;
  private int next;
  private int start;
  private int end;
  private long number;
  private boolean ended;
  private boolean held;

  TraceLines(TraceInput trace) {
    name = trace.name();
    input = opened(trace.bytes());
  }

  private InputStream opened(InputStream bytes) {
    try {
      var peeking = new PushbackInputStream(bytes, 2);
      int first = peeking.read();
      if (first < 0) return peeking;
      int second = peeking.read();
      if (second >= 0) peeking.unread(second);
      peeking.unread(first);
      boolean gzip = first == GZIP_FIRST && second == GZIP_SECOND;
      return gzip ? new GZIPInputStream(peeking, 1 << 16) : peeking;
    } catch (IOException failure) {
      throw unreadable(failure);
    }
  }

  /** Goes to the next line that is not blank; false at the end. */
  boolean next() {
    if (held) {
      held = false;
      return true;
    }
    while (nextLine()) {
      if (start < end) return true;
    }
    return false;
  }

  /** Makes the line the next one again. */
  void hold() {
    held = true;
  }

  private boolean nextLine() {
    int searched = next;
    while (true) {
      int newline = newline(searched);
      if (newline >= 0) {
        setLine(newline);
        next = newline + 1;
        return true;
      }
      searched = filled;
      if (ended) {
        if (next == filled) return false;
        setLine(filled);
        next = filled;
        return true;
      }
      searched -= makeRoom();
      fill();
    }
  }

  private int newline(int from) {
    for (int index = from; index < filled; index++) {
      if (buffer[index] == '\n') return index;
    }
    return -1;
  }

  private void setLine(int lineEnd) {
    number++;
    start = next;
    end = lineEnd;
    if (end - start > BYTES_MAX) throw tooLong();
    if (number == 1 && startsWithMark()) start += BYTE_ORDER_MARK.length;
    while (end > start && isBlank(buffer[end - 1])) end--;
    while (end > start && isBlank(buffer[start])) start++;
  }

  private boolean startsWithMark() {
    int mark = Math.min(start + BYTE_ORDER_MARK.length, end);
    return Arrays.equals(buffer, start, mark, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length);
  }

  private static boolean isBlank(byte value) {
    return value == ' ' || value == '\t' || value == '\r';
  }

  /** Moves the begun line to the front, or doubles the buffer; answers how far it moved. */
  private int makeRoom() {
    int moved = next;
    if (filled < buffer.length) return 0;
    if (moved > 0) {
      System.arraycopy(buffer, next, buffer, 0, filled - next);
      filled -= next;
      next = 0;
      return moved;
    }
    if (filled > BYTES_MAX) {
      number++;
      throw tooLong();
    }
    buffer = Arrays.copyOf(buffer, 2 * buffer.length);
    return 0;
  }

  private void fill() {
    try {
      int count = input.read(buffer, filled, buffer.length - filled);
      if (count < 0) {
        ended = true;
      } else {
        filled += count;
      }
    } catch (IOException failure) {
      throw unreadable(failure);
    }
  }

  private TraceError tooLong() {
    return error(
        "the line is longer than " + (BYTES_MAX >> 20) + " MiB",
        "a trace has one request a line: check that this is one, and for lost line ends");
  }

  private TraceError unreadable(IOException failure) {
    var message = failure.getMessage();
    return error(
        "cannot be read on: " + (message == null ? "it ends too soon" : message),
        "the file may be cut off or damaged: fetch it again");
  }

  TraceError error(String problem, String remedy) {
    return new TraceError(name, number, problem, remedy);
  }

  byte[] bytes() {
    return buffer;
  }

  int start() {
    return start;
  }

  int length() {
    return end - start;
  }

  String text() {
    return new String(buffer, start, end - start, StandardCharsets.UTF_8);
  }

  /** The beginning of the line, fit to be shown. */
  String glimpse() {
    int shown = Math.min(end - start, 60);
    var text = new String(buffer, start, shown, StandardCharsets.UTF_8);
    var printable = text.codePoints().map(letter -> letter < ' ' ? '?' : letter);
    return printable
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString()
        + (shown < end - start ? "..." : "");
  }

  /** The first character of the line, if it stands for itself. */
  @Nullable
  Character first() {
    return start < end ? Character.valueOf((char) buffer[start]) : null;
  }
}
