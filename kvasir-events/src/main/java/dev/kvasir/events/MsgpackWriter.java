package dev.kvasir.events;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes MessagePack, each value in the fewest bytes. */
final class MsgpackWriter {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);

  byte[] bytes() {
    return bytes.toByteArray();
  }

  void nil() {
    bytes.write(0xc0);
  }

  void array(int count) {
    if (count < 16) {
      bytes.write(0x90 | count);
    } else {
      header(0xdc, count, 2);
    }
  }

  void map(int count) {
    if (count < 16) {
      bytes.write(0x80 | count);
    } else {
      header(0xde, count, 2);
    }
  }

  void text(String text) {
    var encoded = text.getBytes(StandardCharsets.UTF_8);
    if (encoded.length < 32) {
      bytes.write(0xa0 | encoded.length);
    } else {
      header(0xd9, encoded.length, 1);
    }
    bytes.writeBytes(encoded);
  }

  void binary(byte[] content) {
    header(0xc4, content.length, 1);
    bytes.writeBytes(content);
  }

  void number(double value) {
    bytes.write(0xcb);
    big(Double.doubleToRawLongBits(value), 8);
  }

  /** Writes the bits as a number without a sign. */
  void unsigned(long value) {
    if (value >= 0 && value < 0x80) {
      bytes.write((int) value);
    } else if (value >= 0 && value <= 0xffff_ffffL) {
      header(0xcc, value, 1);
    } else {
      bytes.write(0xcf);
      big(value, 8);
    }
  }

  /** The code for the narrowest width that takes the value, counting up from the first. */
  private void header(int code, long value, int widthMin) {
    int width = value < 0x100 ? 1 : value < 0x1_0000 ? 2 : 4;
    width = Math.max(width, widthMin);
    bytes.write(code + Integer.numberOfTrailingZeros(width / widthMin));
    big(value, width);
  }

  private void big(long value, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) bytes.write((int) (value >>> shift));
  }
}
