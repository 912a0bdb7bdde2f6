package dev.kvasir.cli.simulate;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** One option and the values it takes in turn. */
record Dimension(String name, List<String> values) {
  private static final int POINTS_MAX = 10_000;

  Dimension {
    values = List.copyOf(values);
    if (values.isEmpty())
      throw new IllegalArgumentException("a sweep of " + name + " over nothing");
    if (new LinkedHashSet<>(values).size() < values.size()) {
      throw new IllegalArgumentException("a sweep of " + name + " has a value twice: " + values);
    }
  }

  /** Reads key=a,b,c; values that have commas themselves are parted by semicolons. */
  static Dimension parse(String text, Knobs knobs) {
    int equals = text.indexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException(
          "--sweep "
              + text
              + "; write an option without dashes and its values, as in"
              + " kv-cpu-blocks=0,20000,80000");
    }
    var values = text.substring(equals + 1).split(text.indexOf(';') < 0 ? "," : ";", -1);
    for (var value : values) {
      if (value.isBlank()) {
        throw new IllegalArgumentException("--sweep " + text + " has an empty value");
      }
    }
    return of(text.substring(0, equals), List.of(values), knobs);
  }

  static Dimension of(String name, List<String> values, Knobs knobs) {
    var option = knobs.named(name);
    if (!Knobs.isSetting(option)) {
      throw new IllegalArgumentException(
          "a sweep of " + name + " would give the same run each time; sweep what is simulated");
    }
    return new Dimension(Knobs.title(option), values);
  }

  /** All combinations, the last dimension changing fastest. */
  static List<List<String>> grid(List<Dimension> dimensions) {
    long count = 1;
    for (var each : dimensions) count *= each.values().size();
    if (count > POINTS_MAX) {
      throw new IllegalArgumentException(
          "a grid of " + count + " runs, at most " + POINTS_MAX + "; sweep fewer values");
    }
    List<List<String>> points = List.of(List.of());
    for (var each : dimensions) {
      var longer = new ArrayList<List<String>>();
      for (var point : points) {
        for (var value : each.values()) {
          var next = new ArrayList<>(point);
          next.add(value);
          longer.add(next);
        }
      }
      points = longer;
    }
    return points;
  }
}
