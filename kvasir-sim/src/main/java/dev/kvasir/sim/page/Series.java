package dev.kvasir.sim.page;

/** Values that belong together, drawn in one colour. */
final class Series {
  private final String name;
  private final int colour;
  private final Shape shape;
  private final double[] x;
  private final double[] y;
  private final double[] floor;

  private Series(String name, int colour, Shape shape, double[] x, double[] y, double[] floor) {
    if (x.length != y.length || x.length != floor.length) {
      throw new IllegalArgumentException(x.length + ", " + y.length + " and " + floor.length);
    }
    this.name = name;
    this.colour = colour;
    this.shape = shape;
    this.x = x;
    this.y = y;
    this.floor = floor;
  }

  /** How the values are drawn. */
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

  /** What lies between the floor and the values. */
  static Series area(String name, int colour, double[] x, double[] floor, double[] y) {
    return new Series(name, colour, Shape.AREA, x, y, floor);
  }

  String name() {
    return name;
  }

  /** Which of the page's colours. */
  int colour() {
    return colour;
  }

  Shape shape() {
    return shape;
  }

  double[] x() {
    return x;
  }

  double[] y() {
    return y;
  }

  /** Where an area begins. */
  double[] floor() {
    return floor;
  }
}
