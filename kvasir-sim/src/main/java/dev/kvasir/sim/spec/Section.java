package dev.kvasir.sim.spec;

import dev.kvasir.Nullable;
import java.io.Reader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The keys and values of a part of a YAML file, read strictly.
 *
 * <p>Whatever key is asked for is known; {@link #done} then finds those that nobody asked for.
 */
public final class Section {
  private final String where;
  private final JsonNode node;
  private final Set<String> known = new LinkedHashSet<>();

  private Section(String where, JsonNode node) {
    this.where = where;
    this.node = node;
    if (!node.isObject()) throw error("there are no keys here", "write 'key: value' lines");
  }

  /** The whole of a file. */
  public static Section read(String name, Reader yaml) {
    var mapper = YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
    try {
      return new Section(name, mapper.readTree(yaml));
    } catch (JacksonException failure) {
      var place = failure.getLocation();
      var at = place == null ? "" : ":" + place.getLineNr();
      var said = failure.getOriginalMessage().lines().findFirst().orElse("");
      throw new SpecError(name + at, "this is no YAML", said.isEmpty() ? "check it" : said);
    }
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

  /** Throws if there is a key that nobody has asked for. */
  public void done() {
    for (var key : node.propertyNames()) {
      if (known.contains(key)) continue;
      var near = Nearest.to(key, known).map(word -> "did you mean '" + word + "'?");
      throw new SpecError(
          where, "no key is called '" + key + "' here", near.orElse("known are " + known));
    }
  }

  public boolean has(String key) {
    known.add(key);
    return !node.path(key).isMissingNode() && !node.path(key).isNull();
  }

  /** The keys as they are written; those who ask take them all upon themselves. */
  public List<String> keys() {
    known.addAll(node.propertyNames());
    return List.copyOf(node.propertyNames());
  }

  /** Whether the value has keys of its own. */
  public boolean hasSection(String key) {
    return has(key) && node.path(key).isObject();
  }

  public Section section(String key) {
    return new Section(under(key), value(key));
  }

  /** The section of that key as the function reads it; null if there is none. */
  public <T> @Nullable T sectionIfAny(String key, Function<Section, T> reading) {
    return has(key) ? section(key).as(reading) : null;
  }

  /** The sections that stand in a list under the key. */
  public <T> List<T> sections(String key, Function<Section, T> reading) {
    var list = value(key);
    if (!list.isArray()) throw wrong(key, "a list");
    var result = new ArrayList<T>();
    for (int index = 0; index < list.size(); index++) {
      result.add(new Section(under(key) + "[" + index + "]", list.path(index)).as(reading));
    }
    return result;
  }

  public String text(String key) {
    var value = value(key);
    if (!value.isValueNode()) throw wrong(key, "a text");
    return value.asString();
  }

  public String text(String key, String otherwise) {
    return has(key) ? text(key) : otherwise;
  }

  /** A list of texts, or one text alone. */
  public List<String> texts(String key) {
    var list = value(key);
    if (!list.isArray()) return List.of(text(key));
    var result = new ArrayList<String>();
    for (int index = 0; index < list.size(); index++) {
      if (!list.path(index).isValueNode()) throw wrong(key, "a list of single values");
      result.add(list.path(index).asString());
    }
    return result;
  }

  public double number(String key) {
    var value = value(key);
    if (!value.isNumber()) throw wrong(key, "a number");
    return value.asDouble();
  }

  public double number(String key, double otherwise) {
    return has(key) ? number(key) : otherwise;
  }

  public long whole(String key) {
    var value = value(key);
    if (!value.canConvertToLong() || !value.isIntegralNumber()) throw wrong(key, "a whole number");
    return value.asLong();
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
    var list = value(key);
    if (!list.isArray()) throw wrong(key, "a list of numbers");
    var result = new double[list.size()];
    for (int index = 0; index < result.length; index++) {
      if (!list.path(index).isNumber()) throw wrong(key, "a list of numbers");
      result[index] = list.path(index).asDouble();
    }
    return result;
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

  private JsonNode value(String key) {
    if (has(key)) return node.path(key);
    var near = Nearest.to(key, node.propertyNames()).filter(word -> !known.contains(word));
    throw new SpecError(
        where,
        "there is no '" + key + "'",
        near.map(word -> "is '" + word + "' meant to be it?")
            .orElse("it cannot be left out: add it"));
  }

  private String under(String key) {
    return where + (where.indexOf(':') < 0 ? ": " : ".") + key;
  }

  private SpecError wrong(String key, String needed) {
    var value = node.path(key);
    var shown = value.isValueNode() ? "'" + value.asString() + "'" : "no single value";
    return new SpecError(where, "'" + key + "' is " + shown, needed + " is needed there");
  }

  /** For what is wrong with this section as a whole. */
  public SpecError error(String problem, String remedy) {
    return new SpecError(where, problem, remedy);
  }

  /** For a word that is none of those that could stand there. */
  public SpecError unknown(String key, List<String> words) {
    var near = Nearest.to(text(key), words).map(word -> "did you mean '" + word + "'?");
    return error(
        "'" + key + "' is '" + text(key) + "'",
        near.orElse("it can be " + String.join(", ", words)));
  }
}
