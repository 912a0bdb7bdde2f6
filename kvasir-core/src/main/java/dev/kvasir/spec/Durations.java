package dev.kvasir.spec;

import dev.kvasir.Nullable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/** Times as people write them: a number and a unit. */
public final class Durations {
  private static final Pattern TIME =
      Pattern.compile("(?<number>\\d{1,9}(?:\\.\\d{1,9})?) ?(?<unit>us|ms|s|m|h|d)");

  /** From the shortest to the longest. */
  private static final List<String> UNITS = List.of("us", "ms", "s", "m", "h", "d");

  private Durations() {}

  /** The time, to the nearest nanosecond; null if this is none. */
  public static @Nullable Duration parse(String text) {
    var matcher = TIME.matcher(text);
    if (!matcher.matches()) return null;
    var nanos = new BigDecimal(matcher.group("number")).multiply(unit(matcher.group("unit")));
    return Duration.ofNanos(nanos.setScale(0, RoundingMode.HALF_EVEN).longValueExact());
  }

  private static BigDecimal unit(String name) {
    long nanos =
        switch (name) {
          case "us" -> 1000L;
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> 86_400_000_000_000L;
        };
    return BigDecimal.valueOf(nanos);
  }

  /** The time in the largest unit in which it is a whole number. */
  public static String text(Duration time) {
    for (var unit : UNITS.reversed()) {
      long nanos = unit(unit).longValueExact();
      if (time.toNanos() != 0 && time.toNanos() % nanos == 0) return time.toNanos() / nanos + unit;
    }
    return BigDecimal.valueOf(time.toNanos()).movePointLeft(9).stripTrailingZeros().toPlainString()
        + "s";
  }
}
