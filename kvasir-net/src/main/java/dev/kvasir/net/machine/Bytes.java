package dev.kvasir.net.machine;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Pattern;

/** Numbers of bytes, as people read and write them. */
public final class Bytes {
  public static final long GIB = 1L << 30;
  private static final String UNITS = "KMGT";
  private static final int KIBI_BITS = 10;
  private static final Pattern SIZE = Pattern.compile("([\\d.]+)\\s*([KMGT])(iB|B)?");

  private Bytes() {}

  /** In the largest unit of which there is one. */
  public static String text(long bytes) {
    int unit =
        Math.min(UNITS.length(), (Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes | 1)) / 10);
    if (unit == 0) return bytes + " B";
    double value = (double) bytes / (1L << (KIBI_BITS * unit));
    return String.format(Locale.ROOT, "%.1f %siB", value, UNITS.charAt(unit - 1));
  }

  /**
   * A whole number, perhaps in units: 64GiB and 64G are of 2^30 bytes, 64GB are of 10^9.
   *
   * @throws NumberFormatException if it is none
   * @throws ArithmeticException if it is not whole, or too large
   */
  public static long parse(String text) {
    var size = SIZE.matcher(text);
    if (!size.matches()) return Long.parseLong(text);
    int power = UNITS.indexOf(size.group(2)) + 1;
    boolean isDecimal = "B".equals(size.group(3));
    long unit =
        isDecimal ? BigDecimal.TEN.pow(3 * power).longValueExact() : 1L << (KIBI_BITS * power);
    return new BigDecimal(size.group(1)).multiply(BigDecimal.valueOf(unit)).longValueExact();
  }
}
