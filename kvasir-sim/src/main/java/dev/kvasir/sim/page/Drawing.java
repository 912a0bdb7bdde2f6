package dev.kvasir.sim.page;

import static dev.kvasir.sim.page.Figures.place;

import java.util.ArrayList;

/** Draws a chart as SVG, legible on a phone and on a desktop. */
final class Drawing {
  private static final int WIDTH = 400;
  private static final int HEIGHT = 230;
  private static final int LEFT = 50;
  private static final int RIGHT = WIDTH - 14;
  private static final int TOP = 14;
  private static final int BOTTOM = HEIGHT - 38;

  private final Chart chart;

  Drawing(Chart chart) {
    this.chart = chart;
  }

  void write(Html page) {
    page.open(
        "svg",
        "viewBox",
        "0 0 " + WIDTH + " " + HEIGHT,
        "role",
        "img",
        "aria-label",
        chart.title() + ". " + chart.note(),
        "data-x",
        readingPlaces(),
        "data-text",
        readings());
    grid(page);
    for (var series : chart.series()) draw(page, series);
    for (int i = 0; i < chart.marks().size(); i++) draw(page, chart.marks().get(i), i);
    page.open("path", "class", "cursor", "d", "").close("path");
    page.close("svg");
  }

  private void grid(Html page) {
    for (var tick : chart.y().ticks()) {
      double y = y(tick.value());
      line(page, "grid", LEFT, y, RIGHT, y);
      text(page, tick.label(), LEFT - 6, y + 3.5, "end");
    }
    line(page, "axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    double free = 0;
    for (var tick : chart.x().ticks()) {
      double x = x(tick.value());
      double half = 3 * tick.label().length();
      if (x - half < free) continue;
      line(page, "axis", x, BOTTOM, x, BOTTOM + 4);
      text(page, tick.label(), Math.min(x, WIDTH - half), BOTTOM + 16, "middle");
      free = x + half + 6;
    }
    text(page, chart.x().label(), RIGHT, HEIGHT - 5, "end");
  }

  private void draw(Html page, Series series) {
    var colour = "c" + series.colour();
    switch (series.shape()) {
      case LINE -> path(page, colour + " line", way(series, series.y()));
      case DOTTED_LINE -> {
        path(page, colour + " line", way(series, series.y()));
        dots(page, colour, "3.5", series);
      }
      case DOTS -> dots(page, colour, "5", series);
      case AREA -> path(page, colour + " area", way(series, series.y()) + back(series) + "Z");
    }
  }

  private void dots(Html page, String colour, String radius, Series series) {
    for (int i = 0; i < series.x().length; i++) {
      var x = place(x(series.x()[i]));
      var y = place(y(series.y()[i]));
      page.open("circle", "class", colour, "cx", x, "cy", y, "r", radius).close("circle");
    }
  }

  /** Labels are staggered, since marks may be close together. */
  private void draw(Html page, Chart.Mark mark, int step) {
    switch (mark.direction()) {
      case UPRIGHT -> {
        double x = x(mark.value());
        line(page, "mark", x, TOP, x, BOTTOM);
        boolean crowded = x > (LEFT + RIGHT) / 2.0;
        double y = BOTTOM - 8 - 13 * step;
        text(page, mark.label(), crowded ? x - 4 : x + 4, y, crowded ? "end" : "start");
      }
      case LEVEL -> {
        double y = y(mark.value());
        line(page, "mark", LEFT, y, RIGHT, y);
        text(page, mark.label(), LEFT + 4, y < TOP + 14 ? y + 12 : y - 4, "start");
      }
    }
  }

  private String way(Series series, double[] values) {
    var way = new StringBuilder();
    for (int i = 0; i < values.length; i++) {
      way.append(i == 0 ? 'M' : 'L').append(place(x(series.x()[i]))).append(' ');
      way.append(place(y(values[i])));
    }
    return way.toString();
  }

  private String back(Series series) {
    var way = new StringBuilder();
    for (int i = series.x().length - 1; i >= 0; i--) {
      way.append('L').append(place(x(series.x()[i]))).append(' ');
      way.append(place(y(series.floor()[i])));
    }
    return way.toString();
  }

  private String readingPlaces() {
    var places = new ArrayList<String>();
    for (var row : chart.rows()) places.add(place(x(row.x())));
    return String.join(" ", places);
  }

  /** The text shown for a pointer over the chart: each row with its headings. */
  private String readings() {
    var readings = new ArrayList<String>();
    for (var row : chart.rows()) {
      var cells = new ArrayList<String>();
      for (int i = 0; i < row.cells().size(); i++) {
        cells.add(chart.head().get(i) + " " + row.cells().get(i));
      }
      readings.add(String.join(" · ", cells));
    }
    return String.join("\n", readings);
  }

  private static void path(Html page, String look, String way) {
    page.open("path", "class", look, "d", way).close("path");
  }

  private static void line(Html page, String look, double x1, double y1, double x2, double y2) {
    path(page, look, "M" + place(x1) + " " + place(y1) + "L" + place(x2) + " " + place(y2));
  }

  private static void text(Html page, String text, double x, double y, String anchor) {
    page.element("text", text, "x", place(x), "y", place(y), "text-anchor", anchor);
  }

  private double x(double value) {
    return LEFT + chart.x().at(value) * (RIGHT - LEFT);
  }

  private double y(double value) {
    return BOTTOM - chart.y().at(value) * (BOTTOM - TOP);
  }
}
