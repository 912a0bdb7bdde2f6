package dev.kvasir.sim.page;

import java.util.List;

/**
 * A chart, and its figures as a table.
 *
 * @param note a sentence that says what to look at
 * @param marks lines across the picture
 * @param head the headings of the table
 * @param rows the figures as text, in the order of x
 */
record Chart(
    String title,
    String note,
    Axis x,
    Axis y,
    List<Series> series,
    List<Mark> marks,
    List<String> head,
    List<Row> rows) {
  private static final int ROWS_MAX = 32;

  Chart {
    series = List.copyOf(series);
    marks = List.copyOf(marks);
    head = List.copyOf(head);
    rows = List.copyOf(rows);
  }

  /** A line across the picture at a value of x or of y. */
  record Mark(Direction direction, double value, String label) {}

  /** Direction in which a mark runs. */
  enum Direction {
    UPRIGHT,
    LEVEL
  }

  /** The figures at one value of x. */
  record Row(double x, List<String> cells) {}

  void write(Html page) {
    page.open("figure");
    page.open("figcaption").element("h3", title).element("p", note).close("figcaption");
    new Drawing(this).write(page);
    legend(page);
    page.element("output", "", "aria-live", "off");
    table(page);
    page.close("figure");
  }

  private void legend(Html page) {
    if (series.size() < 2) return;
    page.open("ul", "class", "legend");
    for (var each : series) {
      page.open("li").open("i", "class", "c" + each.colour()).close("i");
      page.text(each.name()).close("li");
    }
    page.close("ul");
  }

  private void table(Html page) {
    page.open("details").element("summary", "As a table");
    page.table(head.toArray(String[]::new));
    int every = Math.max(1, Math.ceilDiv(rows.size(), ROWS_MAX));
    for (int i = 0; i < rows.size(); i++) {
      if (i % every != 0 && i != rows.size() - 1) continue;
      page.open("tr");
      for (var cell : rows.get(i).cells()) page.element("td", cell);
      page.close("tr");
    }
    page.closeTable().close("details");
  }
}
