package dev.kvasir.cli.simulate;

import dev.kvasir.sim.spec.Nearest;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options of a simulation by their names without dashes, as files and sweeps write them. */
final class Knobs {
  /** What says where to read or write, or how to judge; it changes no run. */
  private static final List<String> NO_SETTING =
      List.of(
          "scenario",
          "sweep",
          "json",
          "report",
          "requests-out",
          "summarize-trace",
          "threads",
          "slo-attainment",
          "cost-per-gpu-hour",
          "cost-per-host-gib-hour",
          "cost-per-disk-gib-hour",
          "cost-per-object-gib-hour");

  private final SequencedMap<String, OptionSpec> options = new LinkedHashMap<>();

  Knobs() {
    var spec = CommandSpec.forAnnotatedObject(new SimulateOptions());
    for (var option : spec.options()) {
      for (var name : option.names()) options.put(bare(name), option);
    }
  }

  static String bare(String name) {
    return name.replaceFirst("^-+", "");
  }

  /** The one name that an option goes by, whichever of its names was written. */
  static String title(OptionSpec option) {
    return bare(option.names()[0]);
  }

  boolean isKnown(String name) {
    return options.containsKey(name);
  }

  OptionSpec named(String name) {
    var option = options.get(name);
    if (option == null) throw new IllegalArgumentException(unknown(name) + "; " + hint(name));
    return option;
  }

  static String unknown(String name) {
    return "no option is called '" + name + "'";
  }

  /** What may have been meant by a name that nothing has. */
  String hint(String name) {
    return Nearest.to(name, options.sequencedKeySet())
        .map(near -> "did you mean '" + near + "'?")
        .orElse("'kvasir simulate --help' lists them all");
  }

  /** Whether the option changes what a run does, rather than what is told about it. */
  static boolean isSetting(OptionSpec option) {
    return !NO_SETTING.contains(title(option));
  }

  static boolean isFlag(OptionSpec option) {
    return option.arity().max() == 0;
  }

  static boolean isFile(OptionSpec option) {
    return option.type() == Path.class;
  }
}
