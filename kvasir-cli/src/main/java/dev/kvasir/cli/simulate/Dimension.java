package dev.kvasir.cli.simulate;

import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.spec.Nearest;
import dev.kvasir.spec.Written;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * One key and the values it takes in turn.
 *
 * @param name the key or the option as it was written
 * @param path the key
 */
record Dimension(String name, String path, List<Written.Text> values) {
  private static final int POINTS_MAX = 10_000;

  /** Sections that say nothing of what is simulated. */
  private static final List<String> UNSIMULATED = List.of("listen.", "files.", "cache", "workers");

  Dimension {
    values = List.copyOf(values);
    var texts = values.stream().map(Written.Text::text).toList();
    if (texts.isEmpty()) throw new IllegalArgumentException("a sweep of " + name + " over nothing");
    if (new LinkedHashSet<>(texts).size() < texts.size()) {
      throw new IllegalArgumentException("a sweep of " + name + " has a value twice: " + texts);
    }
  }

  /** Reads key=a,b,c; values that have commas themselves are separated by semicolons. */
  static Dimension parse(String text) {
    int equals = text.indexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException(
          "--sweep "
              + text
              + "; write a key and its values, as in tiers.host.blocks=0,20000,80000");
    }
    var origin = Written.Origin.of("--sweep " + text);
    var values = new ArrayList<Written.Text>();
    for (var value : text.substring(equals + 1).split(text.indexOf(';') < 0 ? "," : ";", -1)) {
      if (value.isBlank()) {
        throw new IllegalArgumentException("--sweep " + text + " has an empty value");
      }
      values.add(new Written.Text(value, origin));
    }
    return of(text.substring(0, equals), values);
  }

  /** A key by its path or by its option's name. */
  static Dimension of(String name, List<Written.Text> values) {
    var path = path(name);
    if (UNSIMULATED.stream().anyMatch(path::startsWith)) {
      throw new IllegalArgumentException(
          "a sweep of " + name + " would give the same run each time; sweep what is simulated");
    }
    var option = KeyOption.named(name);
    if (option.isEmpty()) return new Dimension(name, path, values);
    var converted = new ArrayList<Written.Text>();
    for (var each : values) {
      converted.add(new Written.Text(option.get().value(each.text()), each.origin()));
    }
    return new Dimension(name, path, converted);
  }

  /** The path of a key that was written as such or as an option's name. */
  static String path(String name) {
    var path = KeyOption.pathOf(name);
    if (path != null) return path;
    var known = new ArrayList<String>();
    for (var key : KeyPaths.of(Deployment.DEFAULT)) known.add(key.path());
    for (var option : KeyOption.ALL) known.add(option.name());
    var near = Nearest.to(name, known).map(each -> "did you mean '" + each + "'?");
    throw new IllegalArgumentException(
        "unknown key '" + name + "'; " + near.orElse("docs/configuration.md lists them all"));
  }

  /** The values as they were written. */
  List<String> texts() {
    return values.stream().map(Written.Text::text).toList();
  }

  /** All combinations, the last dimension changing fastest. */
  static List<List<Written.Text>> grid(List<Dimension> dimensions) {
    long count = 1;
    for (var each : dimensions) count *= each.values().size();
    if (count > POINTS_MAX) {
      throw new IllegalArgumentException(
          "a grid of " + count + " runs, at most " + POINTS_MAX + "; sweep fewer values");
    }
    List<List<Written.Text>> points = List.of(List.of());
    for (var each : dimensions) {
      var longer = new ArrayList<List<Written.Text>>();
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
