package dev.kvasir.tiers.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;

/** Commands, or parts of one, in the words of the protocol of Redis. */
final class RedisRequest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** Begins a command of so many words. */
  RedisRequest command(int words) {
    return text("*" + words).end();
  }

  RedisRequest word(String word) {
    return word(word.getBytes(US_ASCII));
  }

  RedisRequest word(byte[] word) {
    length(word.length);
    bytes.writeBytes(word);
    return end();
  }

  /** Begins a word of that length. */
  RedisRequest length(int length) {
    return text("$" + length).end();
  }

  /** Ends a word. */
  RedisRequest end() {
    return text("\r\n");
  }

  ByteBuffer bytes() {
    return ByteBuffer.wrap(bytes.toByteArray());
  }

  private RedisRequest text(String text) {
    bytes.writeBytes(text.getBytes(US_ASCII));
    return this;
  }
}
