package dev.kvasir.events;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/** Batches of which each byte stands for as much as it can. */
final class DenseFrames {
  /** The part of a message that there is much of. */
  enum Of {
    /** Hashes of one byte each. */
    HASHES,
    /** Digests of one byte each. */
    DIGESTS,
    /** Tokens of one byte each. */
    TOKENS,
    /** Extra keys of one letter each, all of one block. */
    KEYS,
    /** Extra keys of one block each. */
    LISTS_OF_KEYS,
    /** Events that remove nothing. */
    EVENTS,
    /** Events that cannot be read. */
    UNREADABLE,
    /** Lists in a value that nobody knows. */
    UNKNOWN
  }

  private static final int LIST_MAX = 1 << 22;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private DenseFrames() {}

  /** Returns a batch of about so many bytes. */
  static byte[] batch(Of of, int bytes) {
    return new DenseFrames().write(of, bytes);
  }

  static byte[] batch(RandomGenerator random, int bytesMax) {
    var all = Of.values();
    return batch(all[random.nextInt(all.length)], 1 + random.nextInt(bytesMax));
  }

  private byte[] write(Of of, int bytes) {
    array(2);
    out.write(1);
    switch (of) {
      case EVENTS -> repeat(event("BlockRemoved", bytes(0x90)), bytes);
      case UNREADABLE -> repeat(event("BlockRemoved", bytes(0x01)), bytes);
      default -> {
        int events = 1 + bytes / LIST_MAX;
        array(events);
        for (int i = 0; i < events; i++) event(of, bytes / events);
      }
    }
    return out.toByteArray();
  }

  private void event(Of of, int bytes) {
    switch (of) {
      case HASHES -> list("BlockRemoved", 2, bytes(7), bytes);
      case DIGESTS -> list("BlockRemoved", 2, bytes(0xc4, 1, 7), bytes);
      case TOKENS -> list("BlockStored", 4, bytes(0x90, 0xc0), bytes(7), bytes);
      case LISTS_OF_KEYS -> list("BlockStored", 9, nothingBefore(), bytes(0x91, 0xa0), bytes);
      case KEYS -> {
        out.writeBytes(event(9, "BlockStored"));
        out.writeBytes(nothingBefore());
        array(1);
        repeat(bytes(0xa1, 'x'), bytes);
      }
      default -> list("BlockMoved", 2, bytes(0x90), bytes);
    }
  }

  /** The values of a stored block before its extra keys. */
  private static byte[] nothingBefore() {
    return bytes(0x91, 7, 0xc0, 0x90, 0, 0xc0, 0xc0, 0xc0);
  }

  private void list(String type, int values, byte[] each, int bytes) {
    list(type, values, new byte[0], each, bytes);
  }

  private void list(String type, int values, byte[] before, byte[] each, int bytes) {
    out.writeBytes(event(values, type));
    out.writeBytes(before);
    repeat(each, bytes);
  }

  private static byte[] event(String type, byte[] value) {
    var event = new ByteArrayOutputStream();
    event.writeBytes(event(2, type));
    event.writeBytes(value);
    return event.toByteArray();
  }

  private static byte[] event(int values, String type) {
    var event = new ByteArrayOutputStream();
    event.write(0x90 | values);
    event.write(0xa0 | type.length());
    event.writeBytes(type.getBytes(US_ASCII));
    return event.toByteArray();
  }

  private void repeat(byte[] each, int bytes) {
    int count = Math.min(LIST_MAX, Math.max(1, bytes / each.length));
    array(count);
    for (int i = 0; i < count; i++) out.writeBytes(each);
  }

  private void array(int count) {
    out.write(0xdd);
    out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(count).array());
  }

  private static byte[] bytes(int... values) {
    var bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) values[i];
    return bytes;
  }
}
