package dev.kvasir.live.gateway;

import java.util.Map;

/** Figures in the text format of Prometheus, in the making. */
final class MetricText {
  private final StringBuilder out = new StringBuilder(8_192);

  /** One label, with its value in quotes. */
  static String label(String name, String value) {
    var escaped = value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    return name + "=\"" + escaped + "\"";
  }

  void head(String name, String type, String help) {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  void line(String name, String labels, long value) {
    line(name, labels, Long.toString(value));
  }

  void line(String name, String labels, double value) {
    line(name, labels, Double.toString(value));
  }

  private void line(String name, String labels, String value) {
    out.append(name);
    if (!labels.isEmpty()) out.append('{').append(labels).append('}');
    out.append(' ').append(value).append('\n');
  }

  void counter(String name, String help, long value) {
    head(name, "counter", help);
    line(name, "", value);
  }

  void gauge(String name, String help, long value) {
    head(name, "gauge", help);
    line(name, "", value);
  }

  void counters(String name, String help, Map<String, Long> counts) {
    head(name, "counter", help);
    counts.forEach((labels, count) -> line(name, labels, count));
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
