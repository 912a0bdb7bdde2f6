package dev.kvasir.gateway.request;

import dev.kvasir.net.openai.Usage;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;

/**
 * Finds the account of tokens in a whole answer that passes by in pieces.
 *
 * <pre>
 *   SEEK --"usage"--> COLON --:--> BRACE --{--> OBJECT --}--> SEEK, with an account
 *     ^----anything else-'-----------'             |
 *     '--------------------------- too long -------'
 * </pre>
 *
 * <p>A quote inside a text of JSON is escaped, so an unescaped {@code "usage":} is the name of a
 * field. Each byte is looked at once, and no more is kept than the object itself.
 */
final class UsageScanner {
  static final int OBJECT_BYTES_MAX = 4 << 10;

  private static final byte[] NAME = "\"usage\"".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] PREFIX = "{\"usage\":".getBytes(StandardCharsets.US_ASCII);
  private static final int OBJECT_BYTES = 256;

  private enum State {
    SEEK,
    COLON,
    BRACE,
    OBJECT
  }

  private State state = State.SEEK;

  /** The part of the name that has come. */
  private int matched;

  private byte before;
  private int depth;
  private byte[] object = new byte[0];
  private int objectBytes;

  /** The last object that was whole. */
  private byte[] complete = object;

  private int completeBytes;
  private long looked;

  /** Returns what the last account says; unknown if none has come. */
  Usage usage() {
    if (completeBytes == 0) return Usage.UNKNOWN;
    var json = new byte[PREFIX.length + completeBytes + 1];
    System.arraycopy(PREFIX, 0, json, 0, PREFIX.length);
    System.arraycopy(complete, 0, json, PREFIX.length, completeBytes);
    json[json.length - 1] = '}';
    return Usage.of(json);
  }

  /** Returns how often a byte was looked at. */
  long looked() {
    return looked;
  }

  /** The bytes that are kept. */
  int kept() {
    return object.length + complete.length;
  }

  void feed(Buffer chunk) {
    var bytes = chunk.getBytes();
    int at = 0;
    while (at < bytes.length) {
      if (state == State.SEEK && matched == 0) {
        int quote = quote(bytes, at);
        looked += quote - at;
        if (quote > at) before = bytes[quote - 1];
        at = quote;
        if (at == bytes.length) return;
      }
      looked++;
      step(bytes[at]);
      before = bytes[at++];
    }
  }

  private static int quote(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && bytes[at] != '"') at++;
    return at;
  }

  private void step(byte next) {
    switch (state) {
      case SEEK -> seek(next);
      case COLON -> expect(next, ':', State.BRACE);
      case BRACE -> {
        expect(next, '{', State.OBJECT);
        if (state == State.OBJECT) begin(next);
      }
      case OBJECT -> add(next);
    }
  }

  private void seek(byte next) {
    if (next == NAME[matched] && (matched > 0 || before != '\\')) matched++;
    else matched = next == '"' && before != '\\' ? 1 : 0;
    if (matched < NAME.length) return;
    matched = 0;
    state = State.COLON;
  }

  private void expect(byte next, char mark, State after) {
    if (Character.isWhitespace(next)) return;
    if (next == mark) {
      state = after;
    } else {
      state = State.SEEK;
      seek(next);
    }
  }

  private void begin(byte brace) {
    depth = 0;
    objectBytes = 0;
    add(brace);
  }

  private void add(byte next) {
    if (objectBytes == OBJECT_BYTES_MAX) {
      state = State.SEEK;
      seek(next);
      return;
    }
    if (objectBytes == object.length) grow();
    object[objectBytes++] = next;
    if (next == '{') depth++;
    if (next != '}' || --depth > 0) return;
    state = State.SEEK;
    var free = complete;
    complete = object;
    completeBytes = objectBytes;
    object = free;
  }

  private void grow() {
    var larger = new byte[Math.max(OBJECT_BYTES, 2 * object.length)];
    System.arraycopy(object, 0, larger, 0, objectBytes);
    object = larger;
  }
}
