package dev.kvasir.text;

/** The class of each code point, as the patterns of tokenizers distinguish them. */
final class LetterKinds {
  static final byte OTHER = 0;
  static final byte LETTER = 1;
  static final byte NUMBER = 2;
  static final byte SPACE = 3;
  static final byte NEWLINE = 4;

  private static final byte[] PLANE = new byte[1 << 16];

  static {
    for (int point = 0; point < PLANE.length; point++) PLANE[point] = kind(point);
  }

  private LetterKinds() {}

  /** The kind of a letter of 16 bits; half a pair is no letter. */
  static byte of(char letter) {
    return PLANE[letter];
  }

  static byte of(int point) {
    return point < PLANE.length ? PLANE[point] : kind(point);
  }

  /** Returns whether it is a space or ends a line. */
  static boolean isSpace(char letter) {
    return of(letter) == SPACE || of(letter) == NEWLINE;
  }

  private static byte kind(int point) {
    if (point == '\n' || point == '\r') return NEWLINE;
    if (isSpace(point)) return SPACE;
    return switch (Character.getType(point)) {
      case Character.UPPERCASE_LETTER,
          Character.LOWERCASE_LETTER,
          Character.TITLECASE_LETTER,
          Character.MODIFIER_LETTER,
          Character.OTHER_LETTER ->
          LETTER;
      case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER ->
          NUMBER;
      default -> OTHER;
    };
  }

  private static boolean isSpace(int point) {
    return (point >= 9 && point <= 13)
        || point == ' '
        || point == 0x85
        || point == 0xa0
        || point == 0x1680
        || (point >= 0x2000 && point <= 0x200a)
        || point == 0x2028
        || point == 0x2029
        || point == 0x202f
        || point == 0x205f
        || point == 0x3000;
  }
}
