package dev.kvasir.events;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads MessagePack that somebody else wrote: every count is checked before anything is made. */
final class MsgpackReader {
  private static final int NIL = 0xc0;
  private static final int FLOAT_32 = 0xca;
  private static final int FLOAT_64 = 0xcb;

  private final ByteBuffer bytes;
  private final EventLimits limits;

  MsgpackReader(byte[] frame, EventLimits limits) {
    this.bytes = ByteBuffer.wrap(frame);
    this.limits = limits;
  }

  boolean isAtEnd() {
    return !bytes.hasRemaining();
  }

  int position() {
    return bytes.position();
  }

  boolean isArray() throws MalformedFrame {
    int code = peek();
    return (code & 0xf0) == 0x90 || code == 0xdc || code == 0xdd;
  }

  boolean isMap() throws MalformedFrame {
    int code = peek();
    return (code & 0xf0) == 0x80 || code == 0xde || code == 0xdf;
  }

  boolean isText() throws MalformedFrame {
    int code = peek();
    return (code & 0xe0) == 0xa0 || (code >= 0xd9 && code <= 0xdb);
  }

  boolean isBinary() throws MalformedFrame {
    int code = peek();
    return code >= 0xc4 && code <= 0xc6;
  }

  boolean isInteger() throws MalformedFrame {
    int code = peek();
    return code < 0x80 || code >= 0xe0 || (code >= 0xcc && code <= 0xd3);
  }

  /** Returns whether nil comes next, which is then read. */
  boolean nil() throws MalformedFrame {
    if (peek() != NIL) return false;
    code();
    return true;
  }

  /** Returns how many values the array that comes next has. */
  int array() throws MalformedFrame {
    int code = code();
    if ((code & 0xf0) == 0x90) return counted(code & 0x0f, 1);
    return switch (code) {
      case 0xdc -> counted(unsigned(2), 1);
      case 0xdd -> counted(unsigned(4), 1);
      default -> throw wrong("an array", code);
    };
  }

  /** Returns how many pairs the map that comes next has. */
  int map() throws MalformedFrame {
    int code = code();
    if ((code & 0xf0) == 0x80) return counted(code & 0x0f, 2);
    return switch (code) {
      case 0xde -> counted(unsigned(2), 2);
      case 0xdf -> counted(unsigned(4), 2);
      default -> throw wrong("a map", code);
    };
  }

  /** The integer that comes next; an unsigned one of 64 bits keeps its bits. */
  long integer() throws MalformedFrame {
    int code = code();
    if (code < 0x80) return code;
    if (code >= 0xe0) return (byte) code;
    return switch (code) {
      case 0xcc -> unsigned(1);
      case 0xcd -> unsigned(2);
      case 0xce -> unsigned(4);
      case 0xcf, 0xd3 -> unsigned(8);
      case 0xd0 -> (byte) unsigned(1);
      case 0xd1 -> (short) unsigned(2);
      case 0xd2 -> (int) unsigned(4);
      default -> throw wrong("an integer", code);
    };
  }

  int integer(int min, int max) throws MalformedFrame {
    long value = integer();
    if (value < min || value > max) throw new MalformedFrame(value + " beyond " + max);
    return (int) value;
  }

  double number() throws MalformedFrame {
    return switch (peek()) {
      case FLOAT_32 -> {
        code();
        yield Float.intBitsToFloat((int) unsigned(4));
      }
      case FLOAT_64 -> {
        code();
        yield Double.longBitsToDouble(unsigned(8));
      }
      default -> integer();
    };
  }

  String text() throws MalformedFrame {
    int code = code();
    long length;
    if ((code & 0xe0) == 0xa0) {
      length = code & 0x1f;
    } else {
      length =
          switch (code) {
            case 0xd9 -> unsigned(1);
            case 0xda -> unsigned(2);
            case 0xdb -> unsigned(4);
            default -> throw wrong("text", code);
          };
    }
    return new String(readBytes(length, limits.textBytesMax()), StandardCharsets.UTF_8);
  }

  /**
   * Returns which of the words comes next, which is then read; -1 if none, and nothing is read.
   * Unlike {@link #text} it creates no strings for words that recur.
   *
   * @param words of fewer than 32 bytes each
   */
  int word(byte[][] words) throws MalformedFrame {
    int code = peek();
    int from = bytes.position() + 1;
    int length = code & 0x1f;
    if ((code & 0xe0) != 0xa0 || bytes.limit() - from < length) return -1;
    for (int i = 0; i < words.length; i++) {
      var word = words[i];
      if (word.length != length) continue;
      if (!Arrays.equals(bytes.array(), from, from + length, word, 0, length)) continue;
      bytes.position(from + length);
      return i;
    }
    return -1;
  }

  byte[] binary(int bytesMax) throws MalformedFrame {
    int code = code();
    long length =
        switch (code) {
          case 0xc4 -> unsigned(1);
          case 0xc5 -> unsigned(2);
          case 0xc6 -> unsigned(4);
          default -> throw wrong("bytes", code);
        };
    return readBytes(length, bytesMax);
  }

  /** Passes over whatever comes next. */
  void skip() throws MalformedFrame {
    skip(1);
  }

  /** Passes over what comes at the position; whether its end was found. */
  boolean skipFrom(int position) {
    bytes.position(position);
    try {
      skip(1);
      return true;
    } catch (MalformedFrame e) {
      return false;
    }
  }

  private void skip(int depth) throws MalformedFrame {
    if (depth > limits.depthMax()) throw new MalformedFrame("lists " + depth + " deep");
    if (isArray()) {
      for (int left = array(); left > 0; left--) skip(depth + 1);
    } else if (isMap()) {
      for (int left = 2 * map(); left > 0; left--) skip(depth + 1);
    } else if (isInteger()) {
      integer();
    } else {
      skipPlain();
    }
  }

  private void skipPlain() throws MalformedFrame {
    int code = code();
    long length =
        switch (code) {
          case 0xd9 -> unsigned(1);
          case 0xda -> unsigned(2);
          case 0xdb -> unsigned(4);
          case NIL, 0xc2, 0xc3 -> 0;
          case FLOAT_32 -> 4;
          case FLOAT_64 -> 8;
          case 0xc4 -> unsigned(1);
          case 0xc5 -> unsigned(2);
          case 0xc6 -> unsigned(4);
          case 0xc7 -> 1 + unsigned(1);
          case 0xc8 -> 1 + unsigned(2);
          case 0xc9 -> 1 + unsigned(4);
          case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8 -> 1 + (1L << (code - 0xd4));
          default -> {
            if ((code & 0xe0) != 0xa0) throw wrong("a value", code);
            yield code & 0x1f;
          }
        };
    require(length);
    bytes.position(bytes.position() + (int) length);
  }

  /** So many values cannot come if fewer bytes do. */
  private int counted(long count, int bytesEach) throws MalformedFrame {
    require(count * bytesEach);
    if (count > limits.itemsMax()) throw MalformedFrame.excess(count + " values in one list");
    return (int) count;
  }

  private byte[] readBytes(long length, int lengthMax) throws MalformedFrame {
    if (length > lengthMax) throw new MalformedFrame(length + " bytes beyond " + lengthMax);
    require(length);
    var result = new byte[(int) length];
    bytes.get(result);
    return result;
  }

  private long unsigned(int width) throws MalformedFrame {
    require(width);
    return switch (width) {
      case 1 -> Byte.toUnsignedLong(bytes.get());
      case 2 -> Short.toUnsignedLong(bytes.getShort());
      case 4 -> Integer.toUnsignedLong(bytes.getInt());
      default -> bytes.getLong();
    };
  }

  private int peek() throws MalformedFrame {
    require(1);
    return Byte.toUnsignedInt(bytes.get(bytes.position()));
  }

  private int code() throws MalformedFrame {
    require(1);
    return Byte.toUnsignedInt(bytes.get());
  }

  private void require(long length) throws MalformedFrame {
    if (bytes.remaining() < length) {
      throw new MalformedFrame(length + " bytes expected, " + bytes.remaining() + " are left");
    }
  }

  private MalformedFrame wrong(String expected, int code) {
    return new MalformedFrame(
        "%s expected at byte %d, found %02x".formatted(expected, bytes.position() - 1, code));
  }
}
