package dev.kvasir.net.client;

import dev.kvasir.Nullable;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import java.util.Arrays;

/**
 * Reads the answers of one connection, one after the other, as their bytes come.
 *
 * <pre>
 *   HEAD --> FIXED -----------------------> DONE
 *    | '---> SIZE <--> DATA, DATA_END
 *    |         '-----> TRAILERS ----------> DONE
 *    |----> UNTIL_CLOSE -- closed() ------> DONE
 *    '-----------------------------------> DONE   (no body)
 * </pre>
 */
final class AnswerParser {
  /** Hears what was read. */
  interface Sink {
    void head(AnswerHead head);

    /** A part of the body, never an empty one; it can be added to. */
    void part(Buffer part);

    /** Nobody listens any more. */
    boolean isDeaf();
  }

  private enum State {
    HEAD,
    FIXED,
    SIZE,
    DATA,
    DATA_END,
    TRAILERS,
    UNTIL_CLOSE,
    DONE
  }

  /** Of a status line and all headers, and of all trailers. */
  static final int HEAD_BYTES_MAX = 32 << 10;

  /** The most interim answers that may precede one, such as 100 and 103. */
  static final int INTERIMS_MAX = 8;

  /** Of the line before a chunk, which may have extensions. */
  static final int SIZE_BYTES_MAX = 1 << 10;

  private static final int SIZE_DIGITS_MAX = 15;

  private static final int HEAD_BYTES = 512;
  private static final int NO_CONTENT = 204;
  private static final int NOT_MODIFIED = 304;

  private final Sink sink;
  private State state = State.DONE;
  private boolean bodiless;
  private int interims;

  /** Bytes so far of a line or a head that comes in several pieces. */
  private byte[] kept = new byte[HEAD_BYTES];

  private int keptBytes;

  /** Bytes still missing of a body or a chunk. */
  private long left;

  private int trailerBytes;

  /** The last head, which the next one is likely to repeat, and its bytes. */
  private @Nullable AnswerHead last;

  private byte[] lastBytes = new byte[0];

  private byte[] in = new byte[0];
  private int at;
  private @Nullable Buffer out;

  AnswerParser(Sink sink) {
    this.sink = sink;
  }

  /** Expects an answer to a request of this kind. */
  void expect(HttpMethod method) {
    state = State.HEAD;
    bodiless = method.equals(HttpMethod.HEAD);
    keptBytes = 0;
    interims = 0;
  }

  /** Returns whether a head has begun to come, and not ended. */
  boolean isWithinHead() {
    return state == State.HEAD && keptBytes > 0;
  }

  /** Returns whether the answer is whole. */
  boolean isDone() {
    return state == State.DONE;
  }

  /** Returns whether the answer is all that came before the connection closed. */
  boolean endsWithConnection() {
    return state == State.UNTIL_CLOSE;
  }

  /**
   * Reads bytes, after which the answer may be whole; returns how many lie behind its end. What
   * came of the body before something malformed is not heard.
   */
  int feed(Buffer bytes) throws MalformedAnswer {
    if (isBody(bytes.length())) {
      sink.part(bytes);
      return 0;
    }
    in = bytes.getBytes();
    at = 0;
    while (at < in.length && state != State.DONE && step()) {
      if (sink.isDeaf()) return 0;
    }
    flush();
    return in.length - at;
  }

  /** Returns whether so many bytes more belong to the body, and do not end it. */
  private boolean isBody(int bytes) {
    if (bytes == 0) return false;
    boolean within = state == State.FIXED || state == State.DATA;
    if (within && bytes < left) {
      left -= bytes;
      return true;
    }
    return state == State.UNTIL_CLOSE;
  }

  /** Takes one step; returns whether it came further. Otherwise more bytes have to come. */
  private boolean step() throws MalformedAnswer {
    return switch (state) {
      case HEAD -> head();
      case FIXED, DATA -> body();
      case SIZE -> size();
      case DATA_END -> dataEnd();
      case TRAILERS -> trailer();
      case UNTIL_CLOSE -> rest();
      case DONE -> false;
    };
  }

  private boolean head() throws MalformedAnswer {
    int end = headEnd();
    keep(end, HEAD_BYTES_MAX);
    if (end < 0) {
      requireBegin();
      return false;
    }
    var head = parsed();
    keptBytes = 0;
    if (head.status() == 101) throw new MalformedAnswer("a change of the protocol");
    if (head.isInterim()) {
      if (++interims > INTERIMS_MAX) throw new MalformedAnswer("interim answers without end");
      return true;
    }
    begin(head);
    sink.head(head);
    return true;
  }

  /** Bytes that do not begin as an answer never become one, however many more come. */
  private void requireBegin() throws MalformedAnswer {
    for (int i = 0; i < Math.min(keptBytes, AnswerHead.VERSION.length()); i++) {
      if (kept[i] != AnswerHead.VERSION.charAt(i)) throw AnswerHead.notHttp();
    }
  }

  private AnswerHead parsed() throws MalformedAnswer {
    var known = last;
    if (known != null && Arrays.equals(lastBytes, 0, lastBytes.length, kept, 0, keptBytes)) {
      return known;
    }
    var head = AnswerHead.of(kept, 0, keptBytes);
    last = head;
    lastBytes = Arrays.copyOf(kept, keptBytes);
    return head;
  }

  private void begin(AnswerHead head) {
    int status = head.status();
    left = head.contentLength();
    if (bodiless || status == NO_CONTENT || status == NOT_MODIFIED || left == 0) {
      state = State.DONE;
    } else if (head.isChunked()) {
      state = State.SIZE;
    } else {
      state = left > 0 ? State.FIXED : State.UNTIL_CLOSE;
    }
  }

  /** Behind the empty line that ends the head; -1 where it has not come. */
  private int headEnd() {
    for (int i = at; i < in.length; i++) {
      if (in[i] != '\n') continue;
      int before = i - 1;
      if (byteAt(before) == '\r') before--;
      if (byteAt(before) == '\n') return i + 1;
    }
    return -1;
  }

  /** Looks back into what was kept where the place is before the bytes that came. */
  private int byteAt(int place) {
    if (place >= at) return in[place];
    int back = keptBytes - (at - place);
    return back >= 0 ? kept[back] : -1;
  }

  /** Keeps the bytes up to there, or all that came where it is below zero. */
  private void keep(int end, int bytesMax) throws MalformedAnswer {
    int to = end < 0 ? in.length : end;
    int count = to - at;
    if (count > bytesMax - keptBytes) {
      throw new MalformedAnswer("a head or a line of more than " + bytesMax + " bytes");
    }
    if (keptBytes + count > kept.length) {
      kept = Arrays.copyOf(kept, Math.max(keptBytes + count, 2 * kept.length));
    }
    System.arraycopy(in, at, kept, keptBytes, count);
    keptBytes += count;
    at = to;
  }

  /** Keeps the rest of a line; whether it is whole. */
  private boolean line() throws MalformedAnswer {
    int end = at;
    while (end < in.length && in[end] != '\n') end++;
    boolean whole = end < in.length;
    keep(whole ? end + 1 : -1, SIZE_BYTES_MAX);
    return whole;
  }

  private boolean body() {
    int count = (int) Math.min(left, in.length - at);
    add(count);
    left -= count;
    if (left == 0) state = state == State.FIXED ? State.DONE : State.DATA_END;
    return true;
  }

  private boolean rest() {
    add(in.length - at);
    return true;
  }

  private void add(int count) {
    var parts = out;
    if (parts == null) {
      parts = Buffer.buffer(in.length - at);
      out = parts;
    }
    parts.appendBytes(in, at, count);
    at += count;
  }

  private void flush() {
    var parts = out;
    out = null;
    if (parts != null && !sink.isDeaf()) sink.part(parts);
  }

  private boolean size() throws MalformedAnswer {
    if (!line()) return false;
    left = chunkBytes();
    keptBytes = 0;
    trailerBytes = 0;
    state = left == 0 ? State.TRAILERS : State.DATA;
    return true;
  }

  private long chunkBytes() throws MalformedAnswer {
    int end = lineLength();
    int digits = 0;
    long size = 0;
    while (digits < end && Character.digit(kept[digits], 16) >= 0) {
      size = size * 16 + Character.digit(kept[digits++], 16);
      if (digits > SIZE_DIGITS_MAX) break;
    }
    int next = digits;
    while (next < end && (kept[next] == ' ' || kept[next] == '\t')) next++;
    boolean isSize = digits > 0 && digits <= SIZE_DIGITS_MAX && (next == end || kept[next] == ';');
    for (int i = next; i < end; i++) isSize &= kept[i] == '\t' || (kept[i] & 0xff) >= ' ';
    if (!isSize) throw new MalformedAnswer("a chunk without a size");
    return size;
  }

  private int lineLength() {
    int end = keptBytes - 1;
    return end > 0 && kept[end - 1] == '\r' ? end - 1 : end;
  }

  private boolean dataEnd() throws MalformedAnswer {
    if (!line()) return false;
    if (lineLength() != 0) throw new MalformedAnswer("a chunk that is longer than it says");
    keptBytes = 0;
    state = State.SIZE;
    return true;
  }

  /** Nobody reads trailers; they only have to be lines, and not too many. */
  private boolean trailer() throws MalformedAnswer {
    if (!line()) return false;
    trailerBytes += keptBytes;
    if (trailerBytes > HEAD_BYTES_MAX) {
      throw new MalformedAnswer("trailers of more than " + HEAD_BYTES_MAX + " bytes");
    }
    if (lineLength() == 0) state = State.DONE;
    keptBytes = 0;
    return true;
  }
}
