package dev.kvasir.gateway.picker;

import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;

/**
 * Messages of Protocol Buffers on the wire, read and written field by field.
 *
 * <p>It knows the kinds of fields that Envoy's messages have. It skips unknown fields, so that
 * messages of later versions can be read.
 */
final class Proto {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int BYTES = 2;
  private static final int FIXED32 = 5;
  private static final int VARINT_BYTES_MAX = 10;

  private Proto() {}

  /** A message that is none. */
  static final class Malformed extends RuntimeException {
    private static final long serialVersionUID = 1;

    Malformed(String message) {
      super(message, null, false, false);
    }
  }

  /** Reads the fields of one message, in the order they stand there. */
  static final class Reader {
    private final Buffer bytes;
    private final int end;
    private int at;
    private int field;
    private int kind;
    private long number;
    private int from;
    private int to;

    Reader(Buffer bytes) {
      this(bytes, 0, bytes.length());
    }

    private Reader(Buffer bytes, int at, int end) {
      this.bytes = bytes;
      this.at = at;
      this.end = end;
    }

    /** Goes on to the next field; false where there is none. Throws {@link Malformed}. */
    boolean next() {
      if (at >= end) return false;
      long tag = varint();
      field = (int) (tag >>> 3);
      kind = (int) (tag & 7);
      if (field <= 0) throw new Malformed("field " + field);
      switch (kind) {
        case VARINT -> number = varint();
        case FIXED64 -> advance(Long.BYTES);
        case BYTES -> advance(varint());
        case FIXED32 -> advance(Integer.BYTES);
        default -> throw new Malformed("a field of kind " + kind);
      }
      return true;
    }

    int field() {
      return field;
    }

    boolean isTrue() {
      return number() != 0;
    }

    long number() {
      if (kind != VARINT) throw new Malformed("field " + field + " is no number");
      return number;
    }

    Reader message() {
      requireBytes();
      return new Reader(bytes, from, to);
    }

    String text() {
      requireBytes();
      return bytes.getString(from, to, StandardCharsets.UTF_8.name());
    }

    Buffer bytes() {
      requireBytes();
      return bytes.getBuffer(from, to);
    }

    private void requireBytes() {
      if (kind != BYTES) throw new Malformed("field " + field + " has no bytes");
    }

    private void advance(long count) {
      if (count < 0 || count > end - at) throw new Malformed("a field of " + count + " bytes");
      from = at;
      to = at + (int) count;
      at = to;
    }

    private long varint() {
      long value = 0;
      for (int i = 0; i < VARINT_BYTES_MAX; i++) {
        if (at >= end) throw new Malformed("a number that breaks off");
        byte next = bytes.getByte(at++);
        value |= (next & 0x7fL) << (7 * i);
        if (next >= 0) return value;
      }
      throw new Malformed("a number of more than " + VARINT_BYTES_MAX + " bytes");
    }
  }

  /** Writes the fields of one message. */
  static final class Writer {
    private final Buffer out = Buffer.buffer();

    Buffer buffer() {
      return out;
    }

    Writer number(int field, long value) {
      varint((long) field << 3 | VARINT);
      varint(value);
      return this;
    }

    Writer text(int field, String value) {
      return bytes(field, Buffer.buffer(value));
    }

    Writer bytes(int field, Buffer value) {
      varint((long) field << 3 | BYTES);
      varint(value.length());
      out.appendBuffer(value);
      return this;
    }

    Writer message(int field, Writer value) {
      return bytes(field, value.out);
    }

    private void varint(long value) {
      long left = value;
      while ((left & ~0x7fL) != 0) {
        out.appendByte((byte) ((left & 0x7f) | 0x80));
        left >>>= 7;
      }
      out.appendByte((byte) left);
    }
  }
}
