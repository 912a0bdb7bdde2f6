package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import dev.kvasir.sim.spec.SpecError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Reads a YAML file as it is written, with the line of each value. */
public final class YamlFile {
  private static final long BYTES_MAX = 1 << 20;

  private final Path file;
  private final JsonParser parser;

  private YamlFile(Path file, JsonParser parser) {
    this.file = file;
    this.parser = parser;
  }

  public static Written.Keys read(Path file) throws IOException {
    if (Files.size(file) > BYTES_MAX) {
      throw new SpecError(file.toString(), "this is larger than 1 MiB", "name a configuration");
    }
    try (var reader = Files.newBufferedReader(file);
        var parser = YAMLMapper.builder().build().createParser(reader)) {
      return new YamlFile(file, parser).whole();
    } catch (JacksonException failure) {
      var place = failure.getLocation();
      var at = place == null ? "" : ":" + place.getLineNr();
      var said = failure.getOriginalMessage().lines().findFirst().orElse("");
      throw new SpecError(file + at, "this is no YAML", said.isEmpty() ? "check it" : said);
    }
  }

  private Written.Keys whole() {
    var first = parser.nextToken();
    var top = new Written.Origin(file.toString(), folder());
    if (first == null || first == JsonToken.VALUE_NULL) return Written.Keys.none(top);
    if (value(first) instanceof Written.Keys keys) return new Written.Keys(keys.values(), top);
    throw new SpecError(file.toString(), "there are no keys here", "write 'key: value' lines");
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
    int line = parser.currentTokenLocation().getLineNr();
    return new Written.Origin(file + ":" + line, folder());
  }

  private @Nullable Path folder() {
    return file.toAbsolutePath().getParent();
  }
}
