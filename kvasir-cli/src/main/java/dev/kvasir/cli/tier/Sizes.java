package dev.kvasir.cli.tier;

import dev.kvasir.Nullable;
import java.util.Locale;
import java.util.regex.Pattern;

/** Numbers of bytes, as people write them. */
final class Sizes {
  private static final Pattern SIZE = Pattern.compile("(\\d+)\\s*(?:([KMGT])i?B?)?");
  private static final String UNITS = "KMGT";
  private static final int KIBI_BITS = 10;

  private Sizes() {}

  /** A whole number of bytes, as a file would have it; null for nothing. */
  static @Nullable String bytes(String option, @Nullable String text) {
    if (text == null) return null;
    var matcher = SIZE.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          option + " '" + text + "', expected bytes with or without a unit, as in 64GiB");
    }
    var unit = matcher.group(2);
    int bits = unit == null ? 0 : KIBI_BITS * (UNITS.indexOf(unit) + 1);
    try {
      return Long.toString(Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << bits));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException(option + " '" + text + "' is more than a disk has", e);
    }
  }

  /** Something to read. */
  static String text(long bytes) {
    double value = bytes;
    int unit = 0;
    while (value >= 1 << KIBI_BITS && unit < UNITS.length()) {
      value /= 1 << KIBI_BITS;
      unit++;
    }
    if (unit == 0) return bytes + " B";
    return String.format(Locale.ROOT, "%.1f %siB", value, UNITS.charAt(unit - 1));
  }
}
