package dev.kvasir.sim.page;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Writes HTML tag by tag; text is escaped. */
final class Html {
  private final StringBuilder written = new StringBuilder();

  /** Opens an element; attributes are names and values in turn. */
  Html open(String tag, String... attributes) {
    written.append('<').append(tag);
    for (int i = 0; i < attributes.length; i += 2) {
      written.append(' ').append(attributes[i]).append("=\"");
      escape(attributes[i + 1]);
      written.append('"');
    }
    written.append('>');
    return this;
  }

  Html close(String tag) {
    written.append("</").append(tag).append(">\n");
    return this;
  }

  Html text(String text) {
    escape(text);
    return this;
  }

  /** A whole element with nothing but text in it. */
  Html element(String tag, String text, String... attributes) {
    return open(tag, attributes).text(text).close(tag);
  }

  /** A column of a table whose rows are about something each; it may have bars from 0 to 1. */
  record Column<T>(String head, String look, Function<T, String> cell, ToDoubleFunction<T> bar) {
    static <T> Column<T> words(String head, Function<T, String> cell) {
      return new Column<>(head, "word", cell, row -> 0);
    }

    static <T> Column<T> figures(String head, Function<T, String> cell) {
      return new Column<>(head, "figure", cell, row -> 0);
    }

    static <T> Column<T> bars(String head, Function<T, String> cell, ToDoubleFunction<T> bar) {
      return new Column<>(head, "share", cell, bar);
    }

    private String[] attributes(T row) {
      if (!look.equals("share")) return new String[] {"class", look};
      double share = Math.clamp(bar.applyAsDouble(row), 0.0, 1.0);
      var style = String.format(Locale.ROOT, "--share:%.3f", share);
      return new String[] {"class", look, "style", style};
    }
  }

  <T> Html table(List<T> rows, List<Column<T>> columns) {
    return table(rows, columns, -1);
  }

  /**
   * Writes a table, whose first column names its rows.
   *
   * @param marked the row to highlight; -1 for none
   */
  <T> Html table(List<T> rows, List<Column<T>> columns, int marked) {
    open("div", "class", "wide").open("table").open("thead").open("tr");
    for (var column : columns) {
      element("th", column.head, "scope", "col", "class", column.look);
    }
    close("tr").close("thead").open("tbody");
    for (int at = 0; at < rows.size(); at++) {
      open("tr", "class", at == marked ? "best" : "row");
      var row = rows.get(at);
      element("th", columns.getFirst().cell.apply(row), "scope", "row");
      for (var column : columns.subList(1, columns.size())) {
        element("td", column.cell.apply(row), column.attributes(row));
      }
      close("tr");
    }
    return close("tbody").close("table").close("div");
  }

  /** Style sheets and scripts, which are not escaped. */
  Html verbatim(String source) {
    written.append(source);
    return this;
  }

  private void escape(String text) {
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      switch (letter) {
        case '&' -> written.append("&amp;");
        case '<' -> written.append("&lt;");
        case '>' -> written.append("&gt;");
        case '"' -> written.append("&quot;");
        default -> written.append(letter);
      }
    }
  }

  @Override
  public String toString() {
    return written.toString();
  }
}
