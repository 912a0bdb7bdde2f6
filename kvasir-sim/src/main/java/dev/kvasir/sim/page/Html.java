package dev.kvasir.sim.page;

import java.util.List;

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

  /**
   * Writes a table.
   *
   * @param words how many of the first columns are text; the others are figures
   * @param marked the row to highlight; -1 for none
   */
  Html table(List<String> heads, int words, List<List<String>> rows, int marked) {
    openTable(heads, words);
    for (int at = 0; at < rows.size(); at++) {
      if (at == marked) open("tr", "class", "best");
      else open("tr");
      var cells = rows.get(at);
      for (int i = 0; i < cells.size(); i++) {
        if (i == 0) element("th", cells.get(i), "scope", "row", "class", kind(i, words));
        else element("td", cells.get(i), "class", kind(i, words));
      }
      close("tr");
    }
    return closeTable();
  }

  /** Opens a table with these heads; {@link #closeTable} closes it. */
  Html openTable(List<String> heads, int words) {
    open("div", "class", "wide").open("table").open("thead").open("tr");
    for (int i = 0; i < heads.size(); i++) {
      element("th", heads.get(i), "scope", "col", "class", kind(i, words));
    }
    return close("tr").close("thead").open("tbody");
  }

  Html closeTable() {
    return close("tbody").close("table").close("div");
  }

  private static String kind(int column, int words) {
    return column < words ? "word" : "figure";
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
