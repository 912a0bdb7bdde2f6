package dev.kvasir.text;

import java.util.Arrays;

/**
 * The letters that byte-level vocabularies write bytes with.
 *
 * <p>Bytes that print as one visible letter of Latin-1 are that letter; the others are the letters
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

  /** The byte of a letter, or -1 where it is none of them. */
  static int number(char letter) {
    return letter < NUMBERS.length ? NUMBERS[letter] : -1;
  }
}
