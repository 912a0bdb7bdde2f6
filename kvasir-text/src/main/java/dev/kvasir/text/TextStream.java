package dev.kvasir.text;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Decodes a growing sequence of tokens: a character is returned once all its bytes have arrived.
 *
 * <p>Invalid bytes are returned as U+FFFD. Special tokens have no text.
 */
public final class TextStream {
  /** A letter has at most four bytes, so at most three wait for the rest. */
  private static final int WAITING_MAX = 3;

  private final Tokenizer tokenizer;
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);
  private byte[] waiting = new byte[0];

  public TextStream(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** The text that the next token completes; empty if it ends within a character. */
  public String push(int token) {
    if (tokenizer.isSpecial(token)) return "";
    var more = tokenizer.bytes(token);
    var bytes = ByteBuffer.allocate(waiting.length + more.length).put(waiting).put(more).flip();
    var text = CharBuffer.allocate(bytes.remaining());
    var _ = decoder.decode(bytes, text, false);
    waiting = new byte[bytes.remaining()];
    if (waiting.length > WAITING_MAX) throw new IllegalStateException(waiting.length + " bytes");
    bytes.get(waiting);
    return text.flip().toString();
  }

  /** Returns what is left when no more tokens come. */
  public String finish() {
    var text = waiting.length == 0 ? "" : "\ufffd";
    waiting = new byte[0];
    decoder.reset();
    return text;
  }
}
