package dev.kvasir.sim.page;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The frame of the simulator's pages: one HTML file that loads nothing. */
final class Page {
  /** Forbids whatever the page does not need, such as access to the network. */
  private static final String POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

  private final Html html = new Html();

  Page(String title, String lead) {
    html.verbatim("<!DOCTYPE html>\n").open("html", "lang", "en").open("head");
    html.open("meta", "charset", "utf-8");
    html.open("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    html.open("meta", "http-equiv", "Content-Security-Policy", "content", POLICY);
    html.element("title", title + " · Kvasir");
    html.open("style").verbatim(resource("page.css")).close("style");
    html.close("head").open("body").open("main");
    html.element("h1", title).element("p", lead, "class", "lead");
  }

  Html html() {
    return html;
  }

  void chapter(String title) {
    html.element("h2", title);
  }

  void charts(List<Chart> charts) {
    html.open("div", "class", "charts");
    for (var chart : charts) chart.write(html);
    html.close("div");
  }

  /**
   * Writes a table.
   *
   * @param words how many of the first columns are text; the others are figures
   * @param marked the row to highlight; -1 for none
   */
  void table(List<String> heads, int words, List<List<String>> rows, int marked) {
    html.open("div", "class", "wide").open("table").open("thead").open("tr");
    for (int i = 0; i < heads.size(); i++) {
      html.element("th", heads.get(i), "scope", "col", "class", i < words ? "word" : "figure");
    }
    html.close("tr").close("thead").open("tbody");
    for (int at = 0; at < rows.size(); at++) {
      if (at == marked) html.open("tr", "class", "best");
      else html.open("tr");
      var cells = rows.get(at);
      for (int i = 0; i < cells.size(); i++) {
        html.element("td", cells.get(i), "class", i < words ? "word" : "figure");
      }
      html.close("tr");
    }
    html.closeTable();
  }

  /** A key figure, with a note below it. */
  void headline(String name, String value, String note) {
    html.open("div").element("dt", name).open("dd").text(value);
    html.element("small", note).close("dd").close("div");
  }

  void asked(RunDescription asked) {
    chapter("What was asked");
    html.element("pre", asked.command());
    if (asked.settings().isEmpty()) return;
    html.open("details").element("summary", "Every setting that is not the usual one");
    html.open("div", "class", "wide").open("table", "class", "words").open("tbody");
    for (var setting : asked.settings()) {
      html.open("tr").element("th", setting.name(), "scope", "row");
      html.element("td", setting.value()).close("tr");
    }
    html.close("tbody").close("table").close("div").close("details");
  }

  String end() {
    html.close("main");
    html.element(
        "footer", "Simulated by Kvasir. The same input gives the same page, byte for byte.");
    html.open("script").verbatim(resource("page.js")).close("script");
    return html.close("body").close("html").toString();
  }

  private static String resource(String name) {
    try (var stream = Page.class.getResourceAsStream(name)) {
      if (stream == null) throw new IllegalStateException("no resource " + name);
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
