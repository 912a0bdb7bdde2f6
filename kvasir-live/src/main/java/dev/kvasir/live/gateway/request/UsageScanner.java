package dev.kvasir.live.gateway.request;

import dev.kvasir.live.openai.Usage;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds the account of tokens in a whole answer that passes by in pieces.
 *
 * <p>A quote inside a text of JSON is escaped, so an unescaped {@code "usage":} is the name of a
 * field. It keeps no more than the field itself.
 */
final class UsageScanner {
  private static final byte[] NAME = "\"usage\"".getBytes(StandardCharsets.US_ASCII);
  private static final int FIELD_BYTES_MAX = 4 << 10;
  private static final int NO_OBJECT = -1;
  private static final int UNFINISHED = -2;

  private byte[] carried = new byte[0];
  private Usage usage = Usage.UNKNOWN;

  /** What the last account says; unknown where none has come. */
  Usage usage() {
    return usage;
  }

  void feed(Buffer chunk) {
    var bytes = joined(chunk);
    for (int at = find(bytes, 0); at >= 0; at = find(bytes, at + 1)) {
      int end = objectEnd(bytes, at + NAME.length);
      if (end == UNFINISHED) {
        carried = Arrays.copyOfRange(bytes, at, bytes.length);
        return;
      }
      if (end >= 0) take(bytes, at, end);
    }
    carried = Arrays.copyOfRange(bytes, Math.max(0, bytes.length - NAME.length), bytes.length);
  }

  private byte[] joined(Buffer chunk) {
    var bytes = Arrays.copyOf(carried, carried.length + chunk.length());
    chunk.getBytes(bytes, carried.length);
    return bytes;
  }

  private void take(byte[] bytes, int from, int end) {
    var field = new String(bytes, from, end - from, StandardCharsets.UTF_8);
    usage = Usage.of(("{" + field + "}").getBytes(StandardCharsets.UTF_8));
  }

  private static int find(byte[] bytes, int from) {
    for (int at = from; at + NAME.length <= bytes.length; at++) {
      if (bytes[at] != '"' || (at > 0 && bytes[at - 1] == '\\')) continue;
      if (Arrays.equals(bytes, at, at + NAME.length, NAME, 0, NAME.length)) return at;
    }
    return -1;
  }

  /** Where the object after a colon ends; none is looked for further than a field may go. */
  private static int objectEnd(byte[] bytes, int from) {
    int limit = Math.min(bytes.length, from + FIELD_BYTES_MAX);
    int colon = blanks(bytes, from);
    if (colon < bytes.length && bytes[colon] != ':') return NO_OBJECT;
    int brace = blanks(bytes, colon + 1);
    if (brace < bytes.length && bytes[brace] != '{') return NO_OBJECT;
    int depth = 0;
    for (int at = brace; at < limit; at++) {
      if (bytes[at] == '{') depth++;
      if (bytes[at] == '}' && --depth == 0) return at + 1;
    }
    return limit < bytes.length ? NO_OBJECT : UNFINISHED;
  }

  private static int blanks(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && Character.isWhitespace(bytes[at])) at++;
    return at;
  }
}
