package dev.kvasir.live.metrics;

import java.util.List;

/** Writes figures as Prometheus reads them. */
public final class MetricsText {
  /** What the text is served as. */
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  /** A name and a value that tell figures of the same name apart. */
  public record Label(String name, String value) {}

  private final StringBuilder text = new StringBuilder();
  private final List<Label> common;
  private String family = "";

  /** A text in which all figures have these labels. */
  public MetricsText(List<Label> common) {
    this.common = List.copyOf(common);
  }

  public MetricsText() {
    this(List.of());
  }

  /** Something that goes up and down. */
  public MetricsText gauge(String name, String help, double value, Label... labels) {
    begin(name, help, "gauge");
    return line(name, number(value), labels);
  }

  /** Something that only grows; its name ends in {@code _total}. */
  public MetricsText counter(String name, String help, long value, Label... labels) {
    begin(name, help, "counter");
    return line(name, Long.toString(value), labels);
  }

  /** Time that only grows. */
  public MetricsText seconds(String name, String help, double value, Label... labels) {
    begin(name, help, "counter");
    return line(name, Double.toString(value), labels);
  }

  public MetricsText histogram(String name, String help, Histogram values, Label... labels) {
    begin(name, help, "histogram");
    long below = 0;
    for (int i = 0; i < values.bounds(); i++) {
      below += values.countAt(i);
      line(name + "_bucket", Long.toString(below), with(labels, number(values.bound(i))));
    }
    line(name + "_bucket", Long.toString(values.count()), with(labels, "+Inf"));
    line(name + "_sum", Double.toString(values.sum()), labels);
    return line(name + "_count", Long.toString(values.count()), labels);
  }

  private static Label[] with(Label[] labels, String bound) {
    var all = new Label[labels.length + 1];
    System.arraycopy(labels, 0, all, 0, labels.length);
    all[labels.length] = new Label("le", bound);
    return all;
  }

  /** Figures of one name stand together under one head. */
  private void begin(String name, String help, String type) {
    if (family.equals(name)) return;
    family = name;
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private MetricsText line(String name, String value, Label... labels) {
    text.append(name);
    char before = '{';
    for (var label : common) before = label(label, before);
    for (var label : labels) before = label(label, before);
    if (before == ',') text.append('}');
    text.append(' ').append(value).append('\n');
    return this;
  }

  private char label(Label label, char before) {
    var value = label.value().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    text.append(before).append(label.name()).append("=\"").append(value).append('"');
    return ',';
  }

  private static String number(double value) {
    long whole = (long) value;
    return whole == value && Math.abs(value) < 1e15 ? Long.toString(whole) : Double.toString(value);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
