package dev.kvasir.sim.page;

import java.util.List;

/**
 * An axis of a chart.
 *
 * @param min the least value of an axis of x; an axis of y shows it and whatever else there is
 * @param max the largest value, likewise
 * @param words the words beside 0, 1, 2 and so on, if that is its kind
 */
record Axis(String label, Kind kind, double min, double max, List<String> words) {
  Axis {
    words = List.copyOf(words);
  }

  /** Meaning of the values along an axis; the script knows the same names. */
  enum Kind {
    NUMBER,
    SHARE,
    MICROS,
    LOG_MICROS,
    SECONDS,
    WORDS
  }

  static Axis numbers(String label, double max) {
    return new Axis(label, Kind.NUMBER, 0, max, List.of());
  }

  static Axis shares(String label, double min) {
    return new Axis(label, Kind.SHARE, min, 1, List.of());
  }

  static Axis times() {
    return new Axis("time", Kind.MICROS, 0, 0, List.of());
  }

  /** A logarithmic axis of times. */
  static Axis logTimes(String label, double minMicros, double maxMicros) {
    double min = Math.max(1, minMicros);
    return new Axis(label, Kind.LOG_MICROS, min, Math.max(maxMicros, 1.5 * min), List.of());
  }

  /** A run's time from its beginning. */
  static Axis clock(String label, double seconds) {
    return new Axis(label, Kind.SECONDS, 0, seconds, List.of());
  }

  static Axis words(String label, List<String> words) {
    return new Axis(label, Kind.WORDS, -0.5, words.size() - 0.5, words);
  }

  String text(double value) {
    return switch (kind) {
      case NUMBER -> Figures.digits(value);
      case SHARE -> Figures.share(value);
      case MICROS, LOG_MICROS -> Figures.micros(value);
      case SECONDS -> Figures.seconds(value);
      case WORDS -> words.get((int) value);
    };
  }
}
