package dev.kvasir.sim.page;

/**
 * Values that belong together, drawn in one colour.
 *
 * @param colour which of the page's colours
 * @param floor where an area begins
 */
@SuppressWarnings("ArrayRecordComponent") // drawn once, and never compared
record Series(String name, int colour, Shape shape, double[] x, double[] y, double[] floor) {
  Series {
    if (x.length != y.length || x.length != floor.length) {
      throw new IllegalArgumentException(x.length + ", " + y.length + " and " + floor.length);
    }
  }

  /** Form in which the values are drawn. */
  enum Shape {
    LINE,
    DOTTED_LINE,
    AREA,
    DOTS
  }

  static Series line(String name, int colour, double[] x, double[] y) {
    return new Series(name, colour, Shape.LINE, x, y, new double[x.length]);
  }

  /** A line with a dot on every value, for few values. */
  static Series dotted(String name, int colour, double[] x, double[] y) {
    return new Series(name, colour, Shape.DOTTED_LINE, x, y, new double[x.length]);
  }

  static Series dots(String name, int colour, double[] x, double[] y) {
    return new Series(name, colour, Shape.DOTS, x, y, new double[x.length]);
  }

  /** Returns a series that fills the area between the floor and the values. */
  static Series area(String name, int colour, double[] x, double[] floor, double[] y) {
    return new Series(name, colour, Shape.AREA, x, y, floor);
  }
}
