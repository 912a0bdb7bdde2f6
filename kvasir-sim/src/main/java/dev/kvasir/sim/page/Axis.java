package dev.kvasir.sim.page;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;

/**
 * An axis of a chart.
 *
 * @param label what is measured along it
 * @param ticks the values that are written beside it
 */
record Axis(String label, double min, double max, Spacing spacing, List<Tick> ticks) {
  private static final int TICKS = 5;
  private static final double[] CLOCK_SECONDS = {
    2, 5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400
  };

  Axis {
    if (!(min < max)) throw new IllegalArgumentException(label + " from " + min + " to " + max);
    ticks = List.copyOf(ticks);
  }

  /** Spacing of an axis, on which equal steps add or multiply. */
  enum Spacing {
    LINEAR,
    LOGARITHMIC
  }

  /** A value that is written beside the axis. */
  record Tick(double value, String label) {}

  /** From zero to the next round number above the largest value. */
  static Axis fromZero(String label, double most, DoubleFunction<String> text) {
    double max = most > 0 ? most : 1;
    double step = roundStep(max / TICKS);
    int steps = (int) StrictMath.ceil(max / step - 1e-9);
    var ticks = new ArrayList<Tick>();
    for (int i = 0; i <= steps; i++) {
      ticks.add(new Tick(i * step, i == 0 ? "0" : text.apply(i * step)));
    }
    return new Axis(label, 0, steps * step, Spacing.LINEAR, ticks);
  }

  /** A run's time from its beginning, in steps that a clock has. */
  static Axis clock(String label, double seconds) {
    double step = Math.max(roundStep(seconds / TICKS), 1e-6);
    for (double whole : CLOCK_SECONDS) {
      if (step > 1 && whole >= seconds / TICKS) {
        step = whole;
        break;
      }
    }
    var ticks = new ArrayList<Tick>();
    for (int i = 0; i * step <= seconds; i++) {
      ticks.add(new Tick(i * step, i == 0 ? "0" : Figures.seconds(i * step)));
    }
    return new Axis(label, 0, seconds, Spacing.LINEAR, ticks);
  }

  static Axis shares(String label) {
    return fromZero(label, 1, share -> Figures.digits(100 * share) + " %");
  }

  /** Shares from a floor up to 1. */
  static Axis sharesFrom(String label, double floor) {
    double step = roundStep((1 - floor) / TICKS);
    double min = Math.max(0, StrictMath.floor(floor / step + 1e-9) * step);
    var ticks = new ArrayList<Tick>();
    for (double at = min; at <= 1 + 1e-9; at += step) {
      ticks.add(new Tick(at, Figures.digits(100 * at) + " %"));
    }
    return new Axis(label, min, 1, Spacing.LINEAR, ticks);
  }

  /** A logarithmic axis of times. */
  static Axis times(String label, double leastMicros, double mostMicros) {
    double min = Math.max(1, leastMicros);
    double max = Math.max(mostMicros, min * 1.5);
    var ticks = new ArrayList<Tick>();
    for (double decade = 1; decade <= max; decade *= 10) {
      for (var factor : factors(max / min)) {
        double value = decade * factor;
        if (value >= min && value <= max) ticks.add(new Tick(value, Figures.micros(value)));
      }
    }
    return new Axis(label, min, max, Spacing.LOGARITHMIC, ticks);
  }

  /** The wider the axis, the fewer ticks in a decade. */
  private static List<Integer> factors(double ratio) {
    if (ratio > 1e4) return List.of(1);
    if (ratio > 30) return List.of(1, 3);
    return ratio > 6 ? List.of(1, 2, 5) : List.of(1, 2, 3, 4, 5, 6, 8);
  }

  /** An axis of words. */
  static Axis words(String label, List<String> words) {
    var ticks = new ArrayList<Tick>();
    int every = Math.ceilDiv(words.size(), 8);
    for (int i = 0; i < words.size(); i += every) ticks.add(new Tick(i, words.get(i)));
    return new Axis(label, -0.5, words.size() - 0.5, Spacing.LINEAR, ticks);
  }

  /** The position of the value on the axis, from 0 to 1. */
  double at(double value) {
    double within = Math.clamp(value, min, max);
    return switch (spacing) {
      case LINEAR -> (within - min) / (max - min);
      case LOGARITHMIC -> StrictMath.log(within / min) / StrictMath.log(max / min);
    };
  }

  private static double roundStep(double rough) {
    double decade = StrictMath.pow(10, StrictMath.floor(StrictMath.log10(rough)));
    double digits = rough / decade;
    return decade * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
  }
}
