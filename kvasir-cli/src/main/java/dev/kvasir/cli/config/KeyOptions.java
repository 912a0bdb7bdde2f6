package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Options of a command that each stand for a key of its file.
 *
 * <p>They are read from a table: a line with the names of the option, its label and its key, then
 * the help text in indented lines. A label that ends with {@code *} is of an option that may be
 * repeated.
 */
public final class KeyOptions {
  private final Map<OptionSpec, String> paths = new LinkedHashMap<>();

  public KeyOptions(String table) {
    for (var entry : table.split("\n(?! )", -1)) {
      if (entry.isBlank()) continue;
      var lines = entry.split("\n", 2);
      var head = lines[0].split(" +", -1);
      var text = lines[1].strip().replaceAll("\\s*\n\\s*", " ");
      paths.put(option(head[0].split(",", -1), head[1], text), head[2]);
    }
  }

  private static OptionSpec option(String[] names, String label, String text) {
    var option = OptionSpec.builder(names).description(text).arity("1");
    return label.endsWith("*")
        ? option
            .paramLabel(label.substring(0, label.length() - 1))
            .type(List.class)
            .auxiliaryTypes(String.class)
            .build()
        : option.paramLabel(label).type(String.class).build();
  }

  public void addTo(CommandSpec command) {
    paths.keySet().forEach(command::addOption);
  }

  /** Returns the given options as a file would state them. */
  public GivenOptions given() {
    var given = GivenOptions.NOTHING;
    for (var each : paths.entrySet()) {
      var option = each.getKey();
      Object value = option.getValue();
      if (value == null) continue;
      var text = value instanceof List<?> all ? joined(all) : value.toString();
      given = given.with(option.names()[0], each.getValue(), text);
    }
    return given;
  }

  /** Returns the value given for the option of that name, or null if there is none. */
  public @Nullable String value(String name) {
    for (var option : paths.keySet()) {
      if (option.names()[0].equals(name)) return option.getValue();
    }
    throw new IllegalArgumentException("there is no option " + name);
  }

  private static String joined(List<?> values) {
    return String.join(",", values.stream().map(String::valueOf).toList());
  }
}
