package dev.kvasir.sim.page;

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

  /** Opens a table with these heads; {@link #closeTable} closes it. */
  Html table(String... heads) {
    open("div", "class", "wide").open("table").open("thead").open("tr");
    for (var head : heads) element("th", head, "scope", "col");
    return close("tr").close("thead").open("tbody");
  }

  Html closeTable() {
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
