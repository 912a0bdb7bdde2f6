package dev.kvasir.sim.page;

import dev.kvasir.kv.name.Sha256;
import dev.kvasir.sim.report.Summary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** The frame of the simulator's pages: one HTML file that loads nothing. */
final class Page {
  private static final String SCRIPT = resource("/dev/kvasir/chart/charts.js");

  /** Forbids whatever the page does not need, such as the network, or any script but this one. */
  private static final String POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + digest(SCRIPT) + "'";

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

  /** A key figure, with a note below it. */
  void headline(String name, String value, String note) {
    html.open("div").element("dt", name).open("dd").text(value);
    html.element("small", note).close("dd").close("div");
  }

  /** The median of a time in milliseconds, with a note of its slow end. */
  void headline(String name, Summary.Spread time) {
    headline(name, Figures.millis(time.p50()), "p99 " + Figures.millis(time.p99()));
  }

  void inputs(RunDescription description) {
    chapter("What was asked");
    html.element("pre", description.command());
    if (description.settings().isEmpty()) return;
    html.open("details").element("summary", "Every setting that is not the usual one");
    html.open("div", "class", "wide").open("table", "class", "words").open("tbody");
    for (var setting : description.settings()) {
      html.open("tr").element("th", setting.name(), "scope", "row");
      html.element("td", setting.value()).close("tr");
    }
    html.close("tbody").close("table").close("div").close("details");
  }

  String end() {
    html.close("main");
    html.element(
        "footer", "Simulated by Kvasir. The same input gives the same page, byte for byte.");
    html.open("script").verbatim(SCRIPT).close("script");
    return html.close("body").close("html").toString();
  }

  private static String digest(String text) {
    return Base64.getEncoder().encodeToString(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
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
