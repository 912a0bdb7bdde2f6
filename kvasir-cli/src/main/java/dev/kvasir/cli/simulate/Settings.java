package dev.kvasir.cli.simulate;

import dev.kvasir.sim.page.Asked;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Options that somebody has set, each under its one name, as they were written. */
final class Settings {
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./~-]+");

  private final Knobs knobs;
  private final SequencedMap<String, String> values;

  private Settings(Knobs knobs, SequencedMap<String, String> values) {
    this.knobs = knobs;
    this.values = values;
  }

  static Settings none(Knobs knobs) {
    return new Settings(knobs, new LinkedHashMap<>());
  }

  /** What was said on a command line. */
  static Settings said(Knobs knobs, ParseResult line) {
    var said = none(knobs);
    for (var option : line.matchedOptions()) {
      var title = Knobs.title(option);
      if (!knobs.isKnown(title)) continue;
      var written = option.originalStringValues();
      said.values.put(title, Knobs.isFlag(option) ? "true" : String.join(",", written));
    }
    return said;
  }

  /** These, with that one set. */
  Settings with(String name, String value) {
    var more = new LinkedHashMap<>(values);
    more.put(Knobs.title(knobs.named(name)), value);
    return new Settings(knobs, more);
  }

  /** These, with the others going before them. */
  Settings under(Settings others) {
    var merged = new LinkedHashMap<>(values);
    merged.putAll(others.values);
    return new Settings(knobs, merged);
  }

  Settings without(String name) {
    var fewer = new LinkedHashMap<>(values);
    fewer.remove(name);
    return new Settings(knobs, fewer);
  }

  boolean has(String name) {
    return values.containsKey(name);
  }

  /** The options as a command line would give them. */
  SimulateOptions options() {
    var options = new SimulateOptions();
    try {
      new CommandLine(options).parseArgs(arguments().toArray(String[]::new));
    } catch (ParameterException wrong) {
      var said = String.valueOf(wrong.getMessage()).lines().findFirst().orElse("");
      throw new IllegalArgumentException(said, wrong);
    }
    return options;
  }

  private List<String> arguments() {
    var arguments = new ArrayList<String>();
    values.forEach(
        (name, value) -> {
          if (!Knobs.isFlag(knobs.named(name))) arguments.add("--" + name + "=" + value);
          else if (isOn(name, value)) arguments.add("--" + name);
        });
    return arguments;
  }

  private static boolean isOn(String name, String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(name + " is '" + value + "'; it is true or false");
    };
  }

  /** What changes the run; where its figures go is left out. */
  List<Asked.Setting> settings() {
    var settings = new ArrayList<Asked.Setting>();
    values.forEach(
        (name, value) -> {
          if (Knobs.isSetting(knobs.named(name))) settings.add(new Asked.Setting(name, value));
        });
    return settings;
  }

  /** As one would type them. */
  String typed() {
    var words = new ArrayList<String>();
    values.forEach(
        (name, value) -> {
          words.add("--" + name);
          if (!Knobs.isFlag(knobs.named(name))) words.add(quoted(value));
        });
    return String.join(" ", words);
  }

  /** As a shell takes it for one word. */
  static String quoted(String value) {
    return PLAIN.matcher(value).matches() ? value : "'" + value.replace("'", "'\\''") + "'";
  }
}
