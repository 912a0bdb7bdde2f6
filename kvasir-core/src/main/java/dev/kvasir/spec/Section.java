package dev.kvasir.spec;

import dev.kvasir.Nullable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * The keys and values of a part of a YAML file, read strictly.
 *
 * <p>Each key that is read is known; {@link #done} refuses all others.
 */
public final class Section {
  private final String path;
  private final Written.Keys keys;
  private final Set<String> known = new LinkedHashSet<>();

  private Section(String path, Written.Keys keys) {
    this.path = path;
    this.keys = keys;
  }

  /** A part that was read before, found at that path. */
  public static Section of(String path, Written written) {
    if (written instanceof Written.Keys keys) return new Section(path, keys);
    if (written instanceof Written.Blank(var origin)) {
      return new Section(path, Written.Keys.none(origin));
    }
    throw new SpecError(place(path, written), "there are no keys here", "write 'key: value' lines");
  }

  /** Reads a section by the given function, and then refuses the keys it does not know. */
  public <T> T as(Function<Section, T> reading) {
    try {
      var result = reading.apply(this);
      done();
      return result;
    } catch (IllegalArgumentException bad) {
      throw error(String.valueOf(bad.getMessage()), "correct these values");
    }
  }

  /** Throws if there is a key that was not read. */
  public void done() {
    keys.values()
        .forEach(
            (key, value) -> {
              if (known.contains(key)) return;
              var near = Nearest.to(key, known).map(word -> "did you mean '" + word + "'?");
              throw new SpecError(
                  place(under(key), value),
                  "unknown key '" + key + "'",
                  near.orElse("known keys: " + String.join(", ", known)));
            });
  }

  public boolean has(String key) {
    known.add(key);
    var value = keys.values().get(key);
    return value != null && !(value instanceof Written.Blank);
  }

  /** Returns whether the value has keys of its own. */
  public boolean hasSection(String key) {
    return has(key) && keys.values().get(key) instanceof Written.Keys;
  }

  public Section section(String key) {
    return of(under(key), value(key));
  }

  /** The section of that key as the function reads it; null if there is none. */
  public <T> @Nullable T sectionIfAny(String key, Function<Section, T> reading) {
    return has(key) ? section(key).as(reading) : null;
  }

  /** The sections that stand in a list under the key. */
  public <T> List<T> sections(String key, Function<Section, T> reading) {
    var result = new ArrayList<T>();
    for (var each : items(key, "a list")) {
      result.add(of(under(key) + "[" + result.size() + "]", each).as(reading));
    }
    return result;
  }

  public String text(String key) {
    if (value(key) instanceof Written.Text text) return text.text();
    throw wrong(key, "a string");
  }

  public String text(String key, String otherwise) {
    return has(key) ? text(key) : otherwise;
  }

  public double number(String key) {
    return number(key, value(key), "a number");
  }

  public double number(String key, double otherwise) {
    return has(key) ? number(key) : otherwise;
  }

  private double number(String key, Written value, String needed) {
    if (!(value instanceof Written.Text(var text, _))) throw wrong(key, needed);
    try {
      double number = Double.parseDouble(text);
      if (Double.isFinite(number)) return number;
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw wrong(key, needed);
  }

  public long whole(String key) {
    try {
      return Long.parseLong(text(key).replace("_", ""));
    } catch (NumberFormatException _) {
      throw wrong(key, "a whole number");
    }
  }

  public long whole(String key, long otherwise) {
    return has(key) ? whole(key) : otherwise;
  }

  public int tokens(String key) {
    long tokens = whole(key);
    if (tokens < 0 || tokens > Integer.MAX_VALUE) throw wrong(key, "a number of tokens");
    return (int) tokens;
  }

  public int tokens(String key, int otherwise) {
    return has(key) ? tokens(key) : otherwise;
  }

  public double[] numbers(String key) {
    var needed = "a list of numbers";
    return items(key, needed).stream().mapToDouble(each -> number(key, each, needed)).toArray();
  }

  /** A time with its unit, such as 250ms or 1.5h. */
  public Duration duration(String key) {
    var parsed = Durations.parse(text(key));
    if (parsed == null) throw wrong(key, "a time with its unit (us, ms, s, m, h or d)");
    return parsed;
  }

  public Duration duration(String key, Duration otherwise) {
    return has(key) ? duration(key) : otherwise;
  }

  private List<Written> items(String key, String needed) {
    if (value(key) instanceof Written.Items items) return items.values();
    throw wrong(key, needed);
  }

  private Written value(String key) {
    var value = keys.values().get(key);
    if (has(key) && value != null) return value;
    var near = Nearest.to(key, keys.values().sequencedKeySet());
    throw new SpecError(
        place(path, keys),
        "there is no '" + key + "'",
        near.filter(word -> !known.contains(word))
            .map(word -> "is '" + word + "' meant to be it?")
            .orElse("it cannot be left out: add it"));
  }

  private String under(String key) {
    return path.isEmpty() ? key : path + "." + key;
  }

  private static String place(String path, Written written) {
    return written.origin().place() + (path.isEmpty() ? "" : ": " + path);
  }

  private SpecError wrong(String key, String needed) {
    var value = value(key);
    var shown = value instanceof Written.Text(var text, _) ? "'" + text + "'" : "no single value";
    return new SpecError(place(under(key), value), "this is " + shown, "it must be " + needed);
  }

  /** For what is wrong with this section as a whole. */
  public SpecError error(String problem, String remedy) {
    return new SpecError(place(path, keys), problem, remedy);
  }

  /** For a word that is none of those that could stand there. */
  public SpecError unknown(String key, List<String> words) {
    var near = Nearest.to(text(key), words).map(word -> "did you mean '" + word + "'?");
    return error(
        "'" + key + "' is '" + text(key) + "'",
        near.orElse("it must be one of " + String.join(", ", words)));
  }
}
