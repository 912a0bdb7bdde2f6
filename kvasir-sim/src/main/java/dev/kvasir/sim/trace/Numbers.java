package dev.kvasir.sim.trace;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Reads the numbers of a trace, and reports those that are invalid. */
final class Numbers {
  /** More than the context of any model; larger numbers are errors. */
  static final int TOKENS_MAX = 1 << 27;

  /** As late as a request can be, so that what follows it still has a time. */
  static final long NANOS_MAX = Long.MAX_VALUE / 2;

  private static final int DIGITS_MAX = 40;

  private final TraceLines lines;

  Numbers(TraceLines lines) {
    this.lines = lines;
  }

  int tokens(String what, String text, int tokensMin) {
    return tokens(what, whole(what, text), tokensMin);
  }

  int tokens(String what, long value, int tokensMin) {
    if (value >= tokensMin && value <= TOKENS_MAX) return (int) value;
    throw lines.error(
        what + " is " + value,
        value < 0
            ? "a length cannot be negative: correct or remove the line"
            : "it must be between " + tokensMin + " and " + TOKENS_MAX + ": correct or remove it");
  }

  long whole(String what, String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException _) {
      throw bad(what, text, "a whole number");
    }
  }

  /** A time in nanoseconds, to the nearest one. */
  long nanos(String what, String text, long unitNanos) {
    if (!isDecimal(text)) throw bad(what, text, "a number");
    try {
      double rough = Double.parseDouble(text) * unitNanos;
      if (rough < 0) throw before(what, text);
      if (rough > NANOS_MAX) throw bad(what, text, "a time within this century");
      if (rough < 1e-3) return 0;
      var exact = new BigDecimal(text).multiply(BigDecimal.valueOf(unitNanos));
      return exact.setScale(0, RoundingMode.HALF_EVEN).longValueExact();
    } catch (NumberFormatException _) {
      throw bad(what, text, "a number");
    }
  }

  long nanos(String what, long units, long unitNanos) {
    if (units < 0) throw before(what, Long.toString(units));
    if (units > NANOS_MAX / unitNanos) {
      throw bad(what, Long.toString(units), "a time within this century");
    }
    return units * unitNanos;
  }

  private static boolean isDecimal(String text) {
    return text.length() <= DIGITS_MAX
        && text.chars().allMatch(letter -> "0123456789.+-eE".indexOf(letter) >= 0);
  }

  private TraceError before(String what, String text) {
    return lines.error(what + " is " + text, "no time is before 0: correct or remove the line");
  }

  private TraceError bad(String what, String text, String needed) {
    var shown = text.length() <= DIGITS_MAX ? text : text.substring(0, DIGITS_MAX) + "...";
    return lines.error(
        what + " is '" + shown + "'", needed + " is needed there: correct or remove the line");
  }
}
