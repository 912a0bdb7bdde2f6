package dev.kvasir.cli;

import dev.kvasir.cli.process.ExitCode;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Describes what the launcher does by itself: it makes the cache before Java starts. */
@Command(
    name = "prepare",
    description = "Prepare quick starts now; else the first 'serve' does it, in half a minute.")
final class PrepareCommand implements Callable<Integer> {
  private final PrintWriter err;

  PrepareCommand(PrintWriter err) {
    this.err = err;
  }

  @Override
  public Integer call() {
    err.println("kvasir: the launcher prepares quick starts: run ./kvasir prepare");
    return ExitCode.UNAVAILABLE;
  }
}
