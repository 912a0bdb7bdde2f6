package dev.kvasir.sim.page;

import java.util.Locale;

/** Formats figures with three significant digits and a unit. */
final class Figures {
  private static final double GIB = 1L << 30;

  private Figures() {}

  static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  static String share(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  static String millis(double millis) {
    return micros(millis * 1000);
  }

  static String micros(double micros) {
    if (micros < 1000) return digits(micros) + " µs";
    if (micros < 1e6) return digits(micros / 1000) + " ms";
    return seconds(micros / 1e6);
  }

  static String seconds(double seconds) {
    if (seconds < 120) return digits(seconds) + " s";
    if (seconds < 2 * 3600) return digits(seconds / 60) + " min";
    return digits(seconds / 3600) + " h";
  }

  static String bytes(long bytes) {
    if (bytes < GIB) return digits(bytes / (GIB / 1024)) + " MiB";
    return bytes < 1024 * GIB
        ? digits(bytes / GIB) + " GiB"
        : digits(bytes / (1024 * GIB)) + " TiB";
  }

  /** About three digits, without trailing zeros. */
  static String digits(double value) {
    var pattern = value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : value >= 1 ? "%.2f" : "%.3f";
    var text = String.format(Locale.ROOT, pattern, value);
    if (text.indexOf('.') < 0) return text;
    int end = text.length();
    while (text.charAt(end - 1) == '0') end--;
    return text.substring(0, text.charAt(end - 1) == '.' ? end - 1 : end);
  }
}
