package dev.kvasir.sim.page;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;

/**
 * A chart, and its figures as a table.
 *
 * @param note a sentence that says what to look at
 * @param places the values on the axis of x, in order
 * @param names a name for each place, or none at all
 * @param marks lines across the picture
 */
@SuppressWarnings("ArrayRecordComponent") // drawn once, and never compared
record Chart(
    String title,
    String note,
    Axis x,
    Axis y,
    double[] places,
    List<String> names,
    List<Series> series,
    List<Mark> marks) {
  private static final int ROWS_MAX = 32;
  private static final JsonMapper JSON = new JsonMapper();

  Chart {
    for (var each : series) {
      if (each.values().length == places.length) continue;
      throw new IllegalArgumentException(
          each.name() + ": " + each.values().length + " values for " + places.length + " places");
    }
    names = List.copyOf(names);
    series = List.copyOf(series);
    marks = List.copyOf(marks);
  }

  /** A chart without names and marks. */
  Chart(String title, String note, Axis x, Axis y, double[] places, List<Series> series) {
    this(title, note, x, y, places, List.of(), series, List.of());
  }

  /** A line across the picture at a value of x or of y. */
  record Mark(Direction direction, double value, String label) {}

  /** Direction in which a mark runs. */
  enum Direction {
    UPRIGHT,
    LEVEL
  }

  void write(Html page) {
    page.open("figure");
    page.open("figcaption").element("h3", title).element("p", note).close("figcaption");
    page.open("div", "class", "plot", "role", "img", "aria-label", title + ". " + note);
    page.close("div").open("script", "type", "application/json");
    // No name of a trace or of a setting ends the element: JSON has another way to write '<'.
    page.verbatim(JSON.writeValueAsString(this).replace("<", "\\u003c")).close("script");
    page.open("details").element("summary", "As a table");
    page.table(rows(), columns()).close("details").close("figure");
  }

  private List<Html.Column<Integer>> columns() {
    var columns = new ArrayList<Html.Column<Integer>>();
    if (!names.isEmpty()) columns.add(Html.Column.words("setting", names::get));
    columns.add(Html.Column.words(x.label(), place -> x.text(places[place])));
    for (var each : series) {
      columns.add(Html.Column.figures(each.name(), place -> cell(each.values()[place])));
    }
    return columns;
  }

  private String cell(double value) {
    return Double.isNaN(value) ? "" : y.text(value);
  }

  /** Returns the places that the table shows: if there are too many, only some, and the last. */
  private List<Integer> rows() {
    int every = Math.max(1, Math.ceilDiv(places.length, ROWS_MAX));
    return IntStream.range(0, places.length)
        .filter(place -> place % every == 0 || place == places.length - 1)
        .boxed()
        .toList();
  }
}
