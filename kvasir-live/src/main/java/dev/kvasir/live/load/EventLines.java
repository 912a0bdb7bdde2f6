package dev.kvasir.live.load;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.function.Consumer;

/** Cuts server-sent events out of bytes that come in any pieces. */
final class EventLines {
  private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};

  private final int lineBytesMax;
  private final Consumer<byte[]> events;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(512);

  /**
   * Takes lines up to a length.
   *
   * @param events takes what follows {@code data:}, a line at a time
   */
  EventLines(int lineBytesMax, Consumer<byte[]> events) {
    this.lineBytesMax = lineBytesMax;
    this.events = events;
  }

  /** Takes the next bytes; false once a line is too long, and nothing more can be made of it. */
  boolean feed(byte[] bytes) {
    int from = 0;
    for (int at = 0; at < bytes.length; at++) {
      if (bytes[at] != '\n') continue;
      line.write(bytes, from, at - from);
      from = at + 1;
      if (line.size() > lineBytesMax) return false;
      end();
    }
    line.write(bytes, from, bytes.length - from);
    return line.size() <= lineBytesMax;
  }

  /** Lines that are no data are names, comments, or the empty ones between events. */
  private void end() {
    var bytes = line.toByteArray();
    line.reset();
    int end = bytes.length > 0 && bytes[bytes.length - 1] == '\r' ? bytes.length - 1 : bytes.length;
    if (end < DATA.length) return;
    for (int i = 0; i < DATA.length; i++) {
      if (bytes[i] != DATA[i]) return;
    }
    int from = DATA.length;
    if (from < end && bytes[from] == ' ') from++;
    events.accept(Arrays.copyOfRange(bytes, from, end));
  }
}
