package dev.kvasir.net.metrics;

import java.util.ArrayList;
import java.util.List;

/** Writes metrics as Prometheus reads them. */
public final class MetricsText {
  /** Content type with which the text is served. */
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  /** A name and a value that tell metrics of the same name apart. */
  public record Label(String name, String value) {}

  private final StringBuilder text = new StringBuilder();
  private final List<Label> common;
  private String last = "";

  /** A text in which all metrics have these labels. */
  public MetricsText(List<Label> common) {
    this.common = List.copyOf(common);
  }

  public MetricsText() {
    this(List.of());
  }

  void add(MetricSet.Family family, String value, List<Label> labels) {
    begin(family);
    line(family.name(), value, labels);
  }

  void histogram(MetricSet.Family family, Histogram values, List<Label> labels) {
    begin(family);
    var bucket = family.name() + "_bucket";
    long below = 0;
    for (int i = 0; i < values.bounds(); i++) {
      below += values.countAt(i);
      line(bucket, Long.toString(below), and(labels, new Label("le", number(values.bound(i)))));
    }
    var count = Long.toString(values.count());
    line(bucket, count, and(labels, new Label("le", "+Inf")));
    line(family.name() + "_sum", Double.toString(values.sum()), labels);
    line(family.name() + "_count", count, labels);
  }

  static List<Label> and(List<Label> labels, Label another) {
    var all = new ArrayList<>(labels);
    all.add(another);
    return all;
  }

  /** Metrics of one name stand together under one head. */
  private void begin(MetricSet.Family family) {
    if (last.equals(family.name())) return;
    last = family.name();
    text.append("# HELP ").append(last).append(' ').append(family.help()).append('\n');
    text.append("# TYPE ").append(last).append(' ').append(family.type().word()).append('\n');
  }

  private void line(String name, String value, List<Label> labels) {
    text.append(name);
    char before = '{';
    for (var label : common) before = label(label, before);
    for (var label : labels) before = label(label, before);
    if (before == ',') text.append('}');
    text.append(' ').append(value).append('\n');
  }

  private char label(Label label, char before) {
    var value = label.value().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    text.append(before).append(label.name()).append("=\"").append(value).append('"');
    return ',';
  }

  static String number(double value) {
    long whole = (long) value;
    return whole == value && Math.abs(value) < 1e15 ? Long.toString(whole) : Double.toString(value);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
