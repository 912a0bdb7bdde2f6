package dev.kvasir.kv.name;

/** Eight bytes, most significant first, in the 58 letters and digits hard to mistake in print. */
final class Base58 {
  private static final String DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  private static final int BASE = DIGITS.length();

  private Base58() {}

  /** The digits of the value, after a "1" for each of its leading zero bytes. */
  static String encode(long value) {
    var reversed = new StringBuilder();
    for (long rest = value; rest != 0; rest = Long.divideUnsigned(rest, BASE)) {
      reversed.append(DIGITS.charAt((int) Long.remainderUnsigned(rest, BASE)));
    }
    reversed.repeat(DIGITS.charAt(0), Long.numberOfLeadingZeros(value) / Byte.SIZE);
    return reversed.reverse().toString();
  }

  /** The value that is written so; any other text is refused. */
  static long decode(String text) {
    long value = 0;
    for (int index = 0; index < text.length(); index++) {
      value = value * BASE + DIGITS.indexOf(text.charAt(index));
    }
    if (!encode(value).equals(text)) {
      throw new IllegalArgumentException("not eight bytes in base 58: \"" + text + "\"");
    }
    return value;
  }
}
