package dev.kvasir.cli;

import dev.kvasir.cli.config.RemovedSettings;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.simulate.CompatNames;
import dev.kvasir.spec.Nearest;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Answers a wrong command line with one line that says what is wrong with it. */
record Mistakes(PrintWriter err) implements IParameterExceptionHandler {

  @Override
  public int handleParseException(ParameterException mistake, String[] args) {
    CommandLine command = mistake.getCommandLine();
    if (args.length == 0) {
      command.usage(err);
    } else {
      String name = command.getCommandSpec().qualifiedName();
      err.println("kvasir: " + text(mistake, command) + " Try '" + name + " --help'.");
    }
    return ExitCode.USAGE;
  }

  private static String text(ParameterException mistake, CommandLine command) {
    if (mistake instanceof UnmatchedArgumentException unmatched) {
      return unknown(unmatched.getUnmatched().getFirst(), command);
    }
    String message = String.valueOf(mistake.getMessage()).lines().findFirst().orElse("wrong usage");
    return message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1) + ".";
  }

  private static String unknown(String argument, CommandLine command) {
    if (argument.startsWith("-")) {
      String option = argument.split("=", 2)[0];
      var known = command.getCommandSpec().optionsMap().keySet();
      var today = command.getCommandName().equals("simulate") ? CompatNames.today(option) : null;
      if (today != null) {
        return "unknown option '%s'; use %s (the old name is taken under --compat blis)."
            .formatted(option, today);
      }
      var gone = RemovedSettings.remedy(option);
      if (gone != null) return "there is no option '" + option + "' any more; " + gone + ".";
      return "unknown option '" + option + "'" + suggestion(option, known);
    }
    var known = command.getSubcommands().keySet();
    return known.isEmpty()
        ? "unexpected argument '" + argument + "'."
        : "unknown command '" + argument + "'" + suggestion(argument, known);
  }

  private static String suggestion(String written, Collection<String> known) {
    return Nearest.to(written, known).map(word -> "; did you mean '" + word + "'?").orElse(".");
  }
}
