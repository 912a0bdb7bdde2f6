package dev.kvasir.model.gguf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Reads the head of a GGUF file value by value, and never beyond its end. */
final class GgufCursor {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** More than any tokenizer needs; bounds what a head can make us keep. */
  private static final int HEAD_BYTES_MAX = 32 << 20;

  private static final String REMEDY = "download or convert it again";

  private final Path path;
  private final MemorySegment bytes;
  private long position;

  GgufCursor(Path path, MemorySegment bytes) {
    this.path = path;
    this.bytes = bytes;
  }

  long position() {
    return position;
  }

  long remaining() {
    return bytes.byteSize() - position;
  }

  byte nextByte(String what) throws ModelFileException {
    return bytes.get(ValueLayout.JAVA_BYTE, advance(1, what));
  }

  short nextShort(String what) throws ModelFileException {
    return bytes.get(SHORT, advance(2, what));
  }

  int nextInt(String what) throws ModelFileException {
    return bytes.get(INT, advance(4, what));
  }

  long nextLong(String what) throws ModelFileException {
    return bytes.get(LONG, advance(8, what));
  }

  /** A count of things that take at least so many bytes each, so it cannot exceed what is left. */
  int nextCount(String what, int bytesMin, int countMax) throws ModelFileException {
    long count = nextLong(what);
    if (count < 0 || count > countMax) {
      throw broken(
          "%s is %s, more than the %s allowed"
              .formatted(what, Long.toUnsignedString(count), countMax));
    }
    if (count * bytesMin > remaining()) {
      throw broken(what + " is " + count + ", but only " + remaining() + " bytes follow");
    }
    return (int) count;
  }

  /** A text; what is not UTF-8 in it is refused. */
  String nextText(String what, int bytesMax) throws ModelFileException {
    int length = nextCount("the length of " + what, 1, bytesMax);
    var text = new byte[length];
    MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, advance(length, what), text, 0, length);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
    } catch (CharacterCodingException notUtf8) {
      throw broken(what + " is not valid UTF-8");
    }
  }

  ModelFileException broken(String wrong) {
    return new ModelFileException(path, "at byte " + position + " " + wrong, REMEDY);
  }

  private long advance(long count, String what) throws ModelFileException {
    if (count > remaining()) {
      throw new ModelFileException(
          path, "it ends at byte " + bytes.byteSize() + ", within " + what, REMEDY);
    }
    if (count > HEAD_BYTES_MAX - position) {
      throw broken("its head is longer than the " + HEAD_BYTES_MAX + " bytes allowed");
    }
    long at = position;
    position += count;
    return at;
  }
}
