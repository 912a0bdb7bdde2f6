package dev.kvasir.sim.page;

/**
 * Values that belong together, drawn in one colour.
 *
 * @param colour which of the page's colours
 * @param values the value at each place of the chart; NaN where there is none
 */
@SuppressWarnings("ArrayRecordComponent") // drawn once, and never compared
record Series(String name, String colour, Shape shape, double[] values) {
  /** Form in which the values are drawn; areas lie on top of each other. */
  enum Shape {
    LINE,
    DOTTED_LINE,
    AREA,
    DOTS
  }

  static Series line(String name, int colour, double[] values) {
    return new Series(name, "c" + colour, Shape.LINE, values);
  }

  /** A line with a dot on every value, for few values. */
  static Series dotted(String name, int colour, double[] values) {
    return new Series(name, "c" + colour, Shape.DOTTED_LINE, values);
  }

  static Series dots(String name, int colour, double[] values) {
    return new Series(name, "c" + colour, Shape.DOTS, values);
  }

  static Series area(String name, int colour, double[] values) {
    return new Series(name, "c" + colour, Shape.AREA, values);
  }
}
