package dev.kvasir.events.zmtp;

import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Reads the frames of a peer. What a frame says of its length is compared with the limits before
 * anything is allocated, and then memory is taken only as the bytes come.
 */
final class FrameReader {
  static final int MORE = 1;
  static final int LONG = 2;
  static final int COMMAND = 4;

  /** A batch has three or four. */
  static final int PARTS_MAX = 64;

  private static final int COMMAND_BYTES_MAX = 1 << 16;
  private static final int BUFFER_BYTES = 1 << 14;

  /** Source of the bytes. */
  interface Source {
    /** Waits for some bytes, one at least; the end of them is an exception. */
    int read(byte[] into, int at, int length) throws IOException;
  }

  /** The peer sent more than it may; the message says what. */
  static final class Excess extends IOException {
    private static final long serialVersionUID = 1;

    Excess(String what, long most, String units) {
      super("%s of more than %d %s".formatted(what, most, units));
    }
  }

  /** A part of a message, or a command. */
  @SuppressWarnings("ArrayRecordComponent") // never compared, and as it came
  record Frame(int flags, byte[] body) {
    boolean isCommand() {
      return (flags & COMMAND) != 0;
    }

    boolean hasMore() {
      return (flags & MORE) != 0;
    }
  }

  private final Source source;
  private final int frameBytesMax;
  private final long messageBytesMax;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int at;
  private int end;

  /** Of the message that has begun. */
  private int parts;

  private long bytes;

  FrameReader(Source source, int frameBytesMax) {
    this.source = source;
    this.frameBytesMax = frameBytesMax;
    this.messageBytesMax = 2L * frameBytesMax;
  }

  /** The next frame. */
  Frame next() throws IOException {
    int flags = octet();
    boolean both = (flags & COMMAND) != 0 && (flags & MORE) != 0;
    if ((flags & ~(MORE | LONG | COMMAND)) != 0 || both) {
      throw new ProtocolException("a frame with the flags %02x".formatted(flags));
    }
    long length = (flags & LONG) == 0 ? octet() : ByteBuffer.wrap(exactly(Long.BYTES)).getLong();
    if ((flags & COMMAND) == 0) countPart(flags, length);
    else if (!isWithin(length, COMMAND_BYTES_MAX)) {
      throw new Excess("a command", COMMAND_BYTES_MAX, "bytes");
    }
    return new Frame(flags, exactly((int) length));
  }

  private void countPart(int flags, long length) throws Excess {
    if (!isWithin(length, frameBytesMax)) {
      throw new Excess("a frame", frameBytesMax, "bytes");
    }
    parts++;
    bytes += length;
    if (parts > PARTS_MAX) throw new Excess("a message", PARTS_MAX, "parts");
    if (bytes > messageBytesMax) {
      throw new Excess("a message", messageBytesMax, "bytes");
    }
    if ((flags & MORE) != 0) return;
    parts = 0;
    bytes = 0;
  }

  /** A length has 64 bits, and may be negative. */
  private static boolean isWithin(long length, int most) {
    return length >= 0 && length <= most;
  }

  /** So many bytes, which are allowed. */
  byte[] exactly(int length) throws IOException {
    var body = new byte[Math.min(length, BUFFER_BYTES)];
    for (int got = 0; got < length; ) {
      if (got == body.length) body = Arrays.copyOf(body, (int) Math.min(length, 2L * got));
      got += some(body, got);
    }
    return body;
  }

  private int some(byte[] into, int from) throws IOException {
    int wanted = into.length - from;
    if (at == end && wanted >= BUFFER_BYTES) return source.read(into, from, wanted);
    if (at == end) fill();
    int count = Math.min(wanted, end - at);
    System.arraycopy(buffer, at, into, from, count);
    at += count;
    return count;
  }

  private int octet() throws IOException {
    if (at == end) fill();
    return Byte.toUnsignedInt(buffer[at++]);
  }

  private void fill() throws IOException {
    at = 0;
    end = 0;
    end = source.read(buffer, 0, BUFFER_BYTES);
  }
}
