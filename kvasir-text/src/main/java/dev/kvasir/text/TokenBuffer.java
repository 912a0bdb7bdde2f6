package dev.kvasir.text;

import java.util.Arrays;

/** A growing array of tokens. */
final class TokenBuffer {
  private int[] tokens;
  private int count;

  TokenBuffer(int room) {
    this.tokens = new int[Math.max(16, room)];
  }

  int size() {
    return count;
  }

  void add(int token) {
    if (count == tokens.length) tokens = Arrays.copyOf(tokens, 2 * count);
    tokens[count++] = token;
  }

  void add(int[] more, int length) {
    if (count + length > tokens.length) {
      tokens = Arrays.copyOf(tokens, Math.max(2 * tokens.length, count + length));
    }
    if (length == 1) tokens[count] = more[0];
    else System.arraycopy(more, 0, tokens, count, length);
    count += length;
  }

  int[] toArray() {
    return Arrays.copyOf(tokens, count);
  }
}
