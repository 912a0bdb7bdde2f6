package dev.kvasir.net.openai;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kvasir.Nullable;
import io.vertx.core.buffer.Buffer;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Cuts a stream of bytes into whole server-sent events, and sees what they say of the answer.
 *
 * <p>Bytes may come in any pieces. Only whole events go on, unchanged; so a stream that breaks off
 * never leaves half of one behind. An event too large to be kept goes on in pieces.
 */
public final class EventSplitter {
  private static final int EVENT_BYTES_MAX = 1 << 20;
  private static final int NAME_BYTES_MAX = 64;
  private static final int BYTES_LEAST = 512;

  /** The last events of streams that name their events. */
  private static final Set<String> LAST =
      Set.of("message_stop", "response.completed", "response.incomplete", "response.cancelled");

  private static final byte[] NAME = ascii("event:");
  private static final byte[] DATA = ascii("data:");
  private static final byte[] DONE = ascii("[DONE]");
  private static final byte[] ERROR = ascii("\"error\"");
  private static final byte[] USAGE = ascii("\"usage\":");

  private byte[] bytes = new byte[0];
  private int length;
  private int scanned;
  private int eventStart;

  private long events;
  private boolean named;
  private boolean done;
  private boolean errorFirst;
  private boolean torn;
  private byte @Nullable [] error;
  private byte @Nullable [] usage;
  private final @Nullable Consumer<byte[]> data;

  /** For whoever wants the events as they are. */
  public EventSplitter() {
    this.data = null;
  }

  /**
   * For whoever reads the events.
   *
   * @param data takes the first line of data of each event
   */
  public EventSplitter(Consumer<byte[]> data) {
    this.data = data;
  }

  /** Takes bytes in, and returns all events that are whole now; empty where none is. */
  public Buffer feed(Buffer chunk) {
    append(chunk);
    int whole = 0;
    for (int line = lineEnd(); line >= 0; line = lineEnd()) {
      if (!endsEvent(line)) continue;
      whole = line + 1;
      see(eventStart, whole);
      eventStart = whole;
    }
    if (whole == 0 && length > EVENT_BYTES_MAX) {
      torn = true;
      whole = length;
    }
    if (whole < length || whole > chunk.length()) return remove(whole);
    clear();
    return chunk;
  }

  /**
   * Events that bring a part of the answer. Of a stream that names its events these are the ones
   * named so; of others all but errors and the last.
   */
  public long events() {
    return events;
  }

  /**
   * Returns whether events have names, as those of {@code /v1/messages} and {@code /v1/responses}.
   */
  public boolean isNamed() {
    return named;
  }

  public boolean isDone() {
    return done;
  }

  /** Returns whether an event told of an error. */
  public boolean hasError() {
    return error != null;
  }

  /** The last event that told of an error, without what stands before its JSON. */
  public byte @Nullable [] error() {
    return error;
  }

  /** Returns whether the very first event told of an error. */
  public boolean beginsWithError() {
    return errorFirst;
  }

  /** Returns whether a part of an event has gone on alone. */
  public boolean isTorn() {
    return torn;
  }

  /** The last event with an account of tokens, without what stands before its JSON. */
  public byte @Nullable [] usage() {
    return usage;
  }

  private void append(Buffer chunk) {
    int needed = length + chunk.length();
    if (needed > bytes.length) {
      int least = Math.max(BYTES_LEAST, 2 * bytes.length);
      bytes = Arrays.copyOf(bytes, Math.max(needed, least));
    }
    chunk.getBytes(bytes, length);
    length = needed;
  }

  /** Goes on to the next end of a line, and returns where it is; -1 where there is none. */
  private int lineEnd() {
    int at = scanned;
    while (at < length && bytes[at] != '\n') at++;
    scanned = Math.min(length, at + 1);
    return at < length ? at : -1;
  }

  /** Returns whether the line that ends at this index is empty. */
  private boolean endsEvent(int line) {
    int before = line - 1;
    if (before >= eventStart && bytes[before] == '\r') before--;
    return before >= eventStart && bytes[before] == '\n';
  }

  private void see(int from, int to) {
    int at = line(DATA, from, to);
    if (at < 0) return;
    var name = name(from, to);
    at = blanks(at + DATA.length, to);
    if (data != null) data.accept(line(at, to));
    if (starts(DONE, at, to)) {
      done = true;
    } else if (isError(at, to) || name.equals("error") || name.equals("response.failed")) {
      errorFirst |= events == 0;
      error = Arrays.copyOfRange(bytes, at, to);
    } else if (name.isEmpty() || (name.endsWith("delta") && !name.equals("message_delta"))) {
      events++;
    } else {
      done |= LAST.contains(name);
    }
    if (hasUsage(at, to)) usage = Arrays.copyOfRange(bytes, at, to);
  }

  /** The bytes up to the end of the line. */
  private byte[] line(int from, int to) {
    int end = from;
    while (end < to && bytes[end] != '\n' && bytes[end] != '\r') end++;
    return Arrays.copyOfRange(bytes, from, end);
  }

  /** Returns the name of the event; empty if it has none. */
  private String name(int from, int to) {
    int at = line(NAME, from, to);
    if (at < 0) return "";
    named = true;
    int start = blanks(at + NAME.length, to);
    int end = start;
    while (end < to && bytes[end] > ' ') end++;
    return new String(bytes, start, Math.min(NAME_BYTES_MAX, end - start), US_ASCII);
  }

  /**
   * Returns where the first line of a kind begins; -1 if the event has none, as a comment has not.
   */
  private int line(byte[] kind, int from, int to) {
    int at = from;
    while (at < to && !starts(kind, at, to)) {
      while (at < to && bytes[at] != '\n') at++;
      at++;
    }
    return at < to ? at : -1;
  }

  private int blanks(int from, int to) {
    int at = from;
    while (at < to && (bytes[at] == ' ' || bytes[at] == '\t')) at++;
    return at;
  }

  /** Returns whether the data is an object whose first field is an error that is not null. */
  private boolean isError(int from, int to) {
    if (from >= to || bytes[from] != '{') return false;
    int name = blanks(from + 1, to);
    if (!starts(ERROR, name, to)) return false;
    int colon = blanks(name + ERROR.length, to);
    int value = blanks(colon + 1, to);
    return colon < to && bytes[colon] == ':' && value < to && bytes[value] != 'n';
  }

  /** Returns whether the event has an account that is not null. */
  private boolean hasUsage(int from, int to) {
    for (int at = from; at + USAGE.length < to; at++) {
      if (bytes[at] != '"' || !starts(USAGE, at, to)) continue;
      int value = at + USAGE.length;
      value = blanks(value, to);
      if (value < to && bytes[value] == '{') return true;
    }
    return false;
  }

  private boolean starts(byte[] text, int at, int to) {
    return at + text.length <= to
        && Arrays.equals(bytes, at, at + text.length, text, 0, text.length);
  }

  private Buffer remove(int count) {
    if (count == 0) return Buffer.buffer();
    var out = Buffer.buffer(count).appendBytes(bytes, 0, count);
    length -= count;
    System.arraycopy(bytes, count, bytes, 0, length);
    scanned -= count;
    eventStart = 0;
    return out;
  }

  private void clear() {
    length = 0;
    scanned = 0;
    eventStart = 0;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }
}
