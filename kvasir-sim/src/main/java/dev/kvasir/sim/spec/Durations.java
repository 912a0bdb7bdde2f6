package dev.kvasir.sim.spec;

import dev.kvasir.Nullable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.regex.Pattern;

/** Reads times as people write them: a number and a unit. */
final class Durations {
  private static final Pattern TIME =
      Pattern.compile("(?<number>\\d{1,9}(?:\\.\\d{1,9})?) ?(?<unit>us|ms|s|m|h)");

  private Durations() {}

  /** The time, to the nearest nanosecond; null if this is none. */
  static @Nullable Duration parse(String text) {
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
          default -> 3_600_000_000_000L;
        };
    return BigDecimal.valueOf(nanos);
  }
}
