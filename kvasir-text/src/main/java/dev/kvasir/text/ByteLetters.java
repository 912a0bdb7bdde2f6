package dev.kvasir.text;

import java.util.Arrays;

/**
 * The characters that stand for bytes in byte-level vocabularies.
 *
 * <p>Bytes that are visible Latin-1 characters stand for themselves; the others are the characters
 * from 256 on, in order.
 */
public final class ByteLetters {
  private static final int BYTES = 256;
  private static final char[] LETTERS = new char[BYTES];
  private static final short[] NUMBERS = new short[2 * BYTES];

  static {
    Arrays.fill(NUMBERS, (short) -1);
    int next = BYTES;
    for (int b = 0; b < BYTES; b++) {
      boolean visible = (b > ' ' && b <= '~') || (b > 0xa0 && b != 0xad);
      LETTERS[b] = (char) (visible ? b : next++);
      NUMBERS[LETTERS[b]] = (short) b;
    }
  }

  private ByteLetters() {}

  public static char letter(int number) {
    return LETTERS[number];
  }

  /** The byte that a character stands for, or -1 for any other character. */
  static int number(char letter) {
    return letter < NUMBERS.length ? NUMBERS[letter] : -1;
  }
}
