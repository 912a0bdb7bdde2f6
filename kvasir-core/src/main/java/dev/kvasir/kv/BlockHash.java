package dev.kvasir.kv;

import java.util.HexFormat;

/**
 * Names a full block by its tokens and everything before them: 256 bits, never fewer.
 *
 * <p>Equal names mean equal content for the same model and tenant, since model, tenant and parent
 * are part of what is hashed.
 */
public record BlockHash(long first, long second, long third, long fourth) {

  /** One well spread word, for tables and sketches; the hashers already did the mixing. */
  long spread() {
    return first ^ Long.rotateLeft(second, 32) ^ third ^ fourth;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(spread());
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
