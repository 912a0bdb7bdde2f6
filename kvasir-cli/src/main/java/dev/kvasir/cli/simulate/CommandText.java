package dev.kvasir.cli.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.ParseResult;

/** A command line as one would type it, without its output options. */
final class CommandText {
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./~-]+");
  private static final List<String> FLAGS = List.of("--json");
  private static final List<String> OUTPUTS =
      List.of("--report", "--requests-out", "--shard", "--threads");

  private CommandText() {}

  static String of(ParseResult line) {
    var command = line.commandSpec().name();
    var words = new ArrayList<>(List.of("kvasir", command));
    var args = line.originalArgs();
    // As a command of another it is told of its own name, too.
    int first = !args.isEmpty() && args.getFirst().equals(command) ? 1 : 0;
    for (int i = first; i < args.size(); i++) {
      var name = args.get(i).split("=", 2)[0];
      if (FLAGS.contains(name)) continue;
      if (!OUTPUTS.contains(name)) words.add(quoted(args.get(i)));
      else if (name.equals(args.get(i))) i++;
    }
    return String.join(" ", words);
  }

  /** As a shell takes it for one word. */
  private static String quoted(String value) {
    return PLAIN.matcher(value).matches() ? value : "'" + value.replace("'", "'\\''") + "'";
  }
}
