package dev.kvasir.kv.name;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * The 256-bit hash of a full block: of its tokens and of all tokens before them.
 *
 * <p>Equal hashes mean equal content for the same model and tenant, since model, tenant and parent
 * are hashed too.
 */
public record BlockHash(long first, long second, long third, long fourth) {
  static final int BYTES = 4 * Long.BYTES;

  /** The hash that these 32 bytes, most significant first, stand for. */
  public static BlockHash of(byte[] bytes) {
    if (bytes.length != BYTES) throw new IllegalArgumentException(bytes.length + " bytes");
    var buffer = ByteBuffer.wrap(bytes);
    return new BlockHash(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
  }

  /** Reads what {@link #toString} writes. */
  public static BlockHash parse(String text) {
    return of(HexFormat.of().parseHex(text));
  }

  /** The 32 bytes of the hash, most significant first. */
  public byte[] bytes() {
    var bytes = new byte[BYTES];
    write(bytes, 0);
    return bytes;
  }

  void write(byte[] target, int at) {
    ByteBuffer.wrap(target, at, BYTES)
        .putLong(first)
        .putLong(second)
        .putLong(third)
        .putLong(fourth);
  }

  /** One well distributed word, for sketches; the hash has mixed it already. */
  public long spread() {
    return home(first, second, third) ^ fourth;
  }

  /**
   * The word by which tables find a place. Names that belong together may have neighbouring ones,
   * so that a look-up of one brings the next into the processor's cache; else it is as well spread.
   */
  public static long home(long first, long second, long third) {
    return first ^ Long.rotateLeft(second, 32) ^ third;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(home(first, second, third));
  }

  /** The 64 hexadecimal digits of the hash. */
  @Override
  public String toString() {
    var hex = HexFormat.of();
    return hex.toHexDigits(first)
        + hex.toHexDigits(second)
        + hex.toHexDigits(third)
        + hex.toHexDigits(fourth);
  }
}
