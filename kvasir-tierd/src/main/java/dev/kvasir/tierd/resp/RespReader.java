package dev.kvasir.tierd.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.kvasir.Nullable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Reads commands of the Redis protocol: an array of strings, or words on a line. Lengths are
 * checked before memory is allocated, and a long last string is left to the caller.
 */
final class RespReader {
  private static final int BUFFER_BYTES = 64 << 10;
  private static final int LINE_BYTES_MAX = 4 << 10;

  private final ReadableByteChannel channel;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);

  /** The words of a command on a line, and the one that is being read. */
  private final Deque<ByteBuffer> words = new ArrayDeque<>();

  private @Nullable ByteBuffer word;

  RespReader(ReadableByteChannel channel) {
    this.channel = channel;
  }

  /** Something that is not of the protocol; the connection cannot go on. */
  static final class Malformed extends IOException {
    private static final long serialVersionUID = 1;

    Malformed(String message) {
      super(message);
    }
  }

  /**
   * Begins the next command and returns how many strings it has; a command on a line has as many as
   * there are words.
   */
  int begin(int countMax) throws IOException {
    words.clear();
    word = null;
    if (peek() == '*') return (int) number('*', countMax);
    var line = new StringBuilder();
    for (int each = next(); each != '\n'; each = next()) {
      if (line.length() == LINE_BYTES_MAX) throw new Malformed("too big inline request");
      line.append((char) each);
    }
    for (var each : line.toString().strip().split("\\s+", -1)) {
      if (!each.isEmpty()) words.add(ByteBuffer.wrap(each.getBytes(ISO_8859_1)));
    }
    return words.size();
  }

  /** Waits for the next command to begin. */
  void await() throws IOException {
    var _ = peek();
  }

  /** The string of that {@link #length}. */
  byte[] string(long length) throws IOException {
    var bytes = new byte[(int) length];
    fill(ByteBuffer.wrap(bytes));
    end();
    return bytes;
  }

  /** Returns how long the next string is, which is then read by {@link #fill} and {@link #end}. */
  long length(long bytesMax) throws IOException {
    word = words.poll();
    return word == null ? number('$', bytesMax) : word.remaining();
  }

  void fill(ByteBuffer into) throws IOException {
    if (word != null) {
      int some = into.remaining();
      into.put(word.slice(word.position(), some));
      word.position(word.position() + some);
    }
    while (into.hasRemaining()) {
      if (buffer.hasRemaining()) {
        int some = Math.min(buffer.remaining(), into.remaining());
        into.put(into.position(), buffer, buffer.position(), some);
        into.position(into.position() + some);
        buffer.position(buffer.position() + some);
      } else if (channel.read(into) < 0) {
        throw new EOFException("closed within a string");
      }
    }
  }

  /** Reads over that many bytes. */
  void skip(long bytes) throws IOException {
    if (word != null) return;
    for (long left = bytes; left > 0; ) {
      if (!buffer.hasRemaining()) more();
      int some = (int) Math.min(left, buffer.remaining());
      buffer.position(buffer.position() + some);
      left -= some;
    }
  }

  void end() throws IOException {
    if (word != null) return;
    if (next() != '\r' || next() != '\n')
      throw new Malformed("a string does not end where it says");
  }

  private long number(char mark, long most) throws IOException {
    int first = next();
    if (first != mark) throw new Malformed("expected '" + mark + "', got '" + (char) first + "'");
    long value = 0;
    int digits = 0;
    for (int each = next(); each != '\r'; each = next()) {
      if (each < '0' || each > '9' || ++digits > 12)
        throw new Malformed("a length is not a number");
      value = value * 10 + (each - '0');
    }
    if (next() != '\n' || digits == 0) throw new Malformed("a length is not a number");
    if (value > most) throw new Malformed("a length of " + value + ", at most " + most);
    return value;
  }

  private int next() throws IOException {
    if (!buffer.hasRemaining()) more();
    return buffer.get() & 0xff;
  }

  private int peek() throws IOException {
    if (!buffer.hasRemaining()) more();
    return buffer.get(buffer.position()) & 0xff;
  }

  private void more() throws IOException {
    buffer.clear();
    int read = channel.read(buffer);
    buffer.flip();
    if (read < 0) throw new EOFException("closed");
  }
}
