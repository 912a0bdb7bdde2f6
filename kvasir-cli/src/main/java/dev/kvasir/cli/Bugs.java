package dev.kvasir.cli;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.UserErrors;
import java.io.PrintWriter;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Reports an uncaught exception in one line; with KVASIR_DEBUG also its stack trace. */
record Bugs(PrintWriter err, Map<String, String> environment)
    implements IExecutionExceptionHandler {
  private static final String DEBUG = "KVASIR_DEBUG";

  @Override
  public int handleExecutionException(
      Exception bug, CommandLine command, ParseResult parsedCommandLine) {
    return report(bug);
  }

  int report(Throwable bug) {
    if (environment.containsKey(DEBUG)) {
      bug.printStackTrace(err);
    }
    int code = UserErrors.reportIfMistake(err, bug);
    if (code != ExitCode.INTERNAL) return code;
    String what = bug.toString().lines().findFirst().orElse("");
    err.println("kvasir: internal error: " + what + ". " + DEBUG + "=1 shows where.");
    err.flush();
    return ExitCode.INTERNAL;
  }
}
