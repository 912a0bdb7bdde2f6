package dev.kvasir.net.metrics;

import dev.kvasir.net.metrics.MetricsText.Label;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The metrics of one source, each declared once: its name, its help, and where its value is read.
 *
 * <p>Whatever serves {@code /metrics} writes whole sets, and the tests of docs/metrics.md and of
 * the Grafana dashboard read {@link #families}. Values are read when Prometheus asks, on the thread
 * that owns the source, so that counting costs a source no more than a field.
 *
 * @param <S> what the values are read from
 */
public final class MetricSet<S> {
  /** Type of a metric, which says how Prometheus may treat it. */
  public enum Type {
    COUNTER,
    GAUGE,
    HISTOGRAM;

    /** As Prometheus and docs/metrics.md write it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** A declared metric. */
  public record Family(String name, Type type, String help) {}

  private final List<Family> families = new ArrayList<>();
  private final List<BiConsumer<S, MetricsText>> writers = new ArrayList<>();

  /** The metrics that are there once. */
  public MetricSet<S> once(Consumer<Rows<S>> declare) {
    return per(List::of, _ -> List.of(), declare);
  }

  /** The metrics of which there is one for each row, told apart by labels. */
  public <R> MetricSet<S> per(
      Function<S, ? extends Iterable<? extends R>> rows,
      Function<R, List<Label>> labels,
      Consumer<Rows<R>> declare) {
    declare.accept(
        new Rows<>(
            (family, value) -> {
              families.add(family);
              writers.add(
                  (source, out) -> {
                    for (R row : rows.apply(source)) {
                      value.write(row, out, family, labels.apply(row));
                    }
                  });
            }));
    return this;
  }

  /** All that is declared. */
  public List<Family> families() {
    return List.copyOf(families);
  }

  public void write(S source, MetricsText out) {
    for (var writer : writers) writer.accept(source, out);
  }

  /** The set with its source, for whoever serves it. */
  public Consumer<MetricsText> of(S source) {
    return out -> write(source, out);
  }

  private interface Value<R> {
    void write(R row, MetricsText out, Family family, List<Label> labels);
  }

  /** Declares metrics that have the same labels. */
  public static final class Rows<R> {
    private final BiConsumer<Family, Value<R>> declared;

    private Rows(BiConsumer<Family, Value<R>> declared) {
      this.declared = declared;
    }

    /** Something that only grows; its name ends in {@code _total}. */
    public Rows<R> counter(String name, String help, ToLongFunction<R> value) {
      return declare(
          name,
          Type.COUNTER,
          help,
          (row, out, family, labels) ->
              out.add(family, Long.toString(value.applyAsLong(row)), labels));
    }

    /** A counter for each key of a map, which is the value of a further label. */
    public Rows<R> counters(
        String name, String help, String label, Function<R, Map<String, Long>> values) {
      return each(new Family(name, Type.COUNTER, help), label, values, String::valueOf);
    }

    /** A gauge for each key of a map, which is the value of a further label. */
    public Rows<R> gauges(
        String name, String help, String label, Function<R, Map<String, Double>> values) {
      return each(new Family(name, Type.GAUGE, help), label, values, MetricsText::number);
    }

    private <V> Rows<R> each(
        Family all, String label, Function<R, Map<String, V>> values, Function<V, String> text) {
      return declare(
          all.name,
          all.type,
          all.help,
          (row, out, family, labels) ->
              values
                  .apply(row)
                  .forEach(
                      (key, value) -> {
                        var more = MetricsText.and(labels, new Label(label, key));
                        out.add(family, text.apply(value), more);
                      }));
    }

    /** Time that only grows; its name ends in {@code _seconds_total}. */
    public Rows<R> seconds(String name, String help, ToDoubleFunction<R> value) {
      return declare(
          name,
          Type.COUNTER,
          help,
          (row, out, family, labels) ->
              out.add(family, Double.toString(value.applyAsDouble(row)), labels));
    }

    /** Something that goes up and down; NaN for a row that does not have it. */
    public Rows<R> gauge(String name, String help, ToDoubleFunction<R> value) {
      return declare(
          name,
          Type.GAUGE,
          help,
          (row, out, family, labels) -> {
            double now = value.applyAsDouble(row);
            if (!Double.isNaN(now)) out.add(family, MetricsText.number(now), labels);
          });
    }

    public Rows<R> histogram(String name, String help, Function<R, Histogram> values) {
      return declare(
          name,
          Type.HISTOGRAM,
          help,
          (row, out, family, labels) -> out.histogram(family, values.apply(row), labels));
    }

    private Rows<R> declare(String name, Type type, String help, Value<R> value) {
      declared.accept(new Family(name, type, help), value);
      return this;
    }
  }
}
