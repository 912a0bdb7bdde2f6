package dev.kvasir.kv.name;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;

/** Text as bytes, for hashing: different texts give different bytes. */
final class Utf8 {
  private Utf8() {}

  /** Refuses what {@link #bytes} refuses. */
  static void require(String text) {
    for (int at = 0; at < text.length(); ) {
      int character = text.codePointAt(at);
      if (Character.getType(character) == Character.SURROGATE) {
        throw new IllegalArgumentException(text.length() + " characters, not all Unicode");
      }
      at += Character.charCount(character);
    }
  }

  /**
   * The UTF-8 bytes of a text. Half a surrogate pair is refused: {@code String.getBytes} would
   * write a question mark in its place, and two texts would hash alike. The text may be a secret,
   * so the exception does not show it.
   */
  static byte[] bytes(String text) {
    try {
      var encoded = UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      var bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(text.length() + " characters, not all Unicode", e);
    }
  }
}
