package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import java.io.Reader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Reads YAML as it is written, with the line of each value. */
public final class YamlReader {
  private static final Pattern PLACE = Pattern.compile("line (\\d+), column \\d+");

  private final String name;
  private final @Nullable String folder;
  private final JsonParser parser;

  private YamlReader(String name, @Nullable String folder, JsonParser parser) {
    this.name = name;
    this.folder = folder;
    this.parser = parser;
  }

  /**
   * Reads the keys of a file.
   *
   * @param name the file as errors name it
   * @param folder where the files lie that it names; null for the working folder
   */
  public static Written.Keys read(String name, @Nullable String folder, Reader yaml) {
    try (var parser = YAMLMapper.builder().build().createParser(yaml)) {
      return new YamlReader(name, folder, parser).whole();
    } catch (JacksonException failure) {
      var at = place(failure);
      throw new SpecError(name + at, "this is not YAML", reason(failure.getOriginalMessage()));
    }
  }

  /** Of the places that it names the last one is where it went wrong. */
  private static String place(JacksonException failure) {
    var named = PLACE.matcher(failure.getOriginalMessage()).results().toList();
    if (!named.isEmpty()) return ":" + named.getLast().group(1);
    var place = failure.getLocation();
    return place == null ? "" : ":" + place.getLineNr();
  }

  /** Returns what is wrong: it comes after what was being read, and only places are indented. */
  private static String reason(String message) {
    var lines = message.lines().filter(line -> !line.isBlank() && !line.startsWith(" ")).toList();
    return lines.isEmpty() ? "check it" : lines.getLast();
  }

  private Written.Keys whole() {
    var first = parser.nextToken();
    var top = new Written.Origin(name, folder);
    if (first == null || first == JsonToken.VALUE_NULL) return Written.Keys.none(top);
    if (value(first) instanceof Written.Keys keys) return new Written.Keys(keys.values(), top);
    throw new SpecError(name, "there are no keys here", "write 'key: value' lines");
  }

  private Written value(JsonToken token) {
    var origin = here();
    return switch (token) {
      case START_OBJECT -> keys(origin);
      case START_ARRAY -> items(origin);
      case VALUE_NULL -> new Written.Blank(origin);
      default -> new Written.Text(parser.getString(), origin);
    };
  }

  private Written.Keys keys(Written.Origin origin) {
    var values = new LinkedHashMap<String, Written>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      var key = parser.currentName();
      var at = here();
      var value = value(parser.nextToken());
      if (values.put(key, placed(value, at)) != null) {
        throw new SpecError(at.place(), "'" + key + "' is there twice", "leave one of them out");
      }
    }
    return new Written.Keys(values, origin);
  }

  /** A section stands where its key does, not where its first value does. */
  private static Written placed(Written value, Written.Origin at) {
    return value instanceof Written.Keys(var values, _) ? new Written.Keys(values, at) : value;
  }

  private Written.Items items(Written.Origin origin) {
    var values = new ArrayList<Written>();
    for (var token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
      values.add(value(token));
    }
    return new Written.Items(values, origin);
  }

  private Written.Origin here() {
    return new Written.Origin(name + ":" + parser.currentTokenLocation().getLineNr(), folder);
  }
}
