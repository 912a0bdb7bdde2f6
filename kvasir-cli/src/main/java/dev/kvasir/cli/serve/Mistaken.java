package dev.kvasir.cli.serve;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.sim.spec.SpecError;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.util.regex.Pattern;

/** Answers settings that cannot be meant with one line that says what is wrong with them. */
final class Mistaken {
  private static final Pattern NO_FILE = Pattern.compile("(--|KVASIR_)");

  private Mistaken() {}

  /** Something to do that reads settings. */
  interface Work {
    int run() throws IOException, InterruptedException;
  }

  static int caught(PrintWriter err, String command, Work work)
      throws IOException, InterruptedException {
    try {
      return work.run();
    } catch (SpecError wrong) {
      var said = String.valueOf(wrong.getMessage());
      err.println("kvasir: " + said);
      return NO_FILE.matcher(said).lookingAt() ? ExitCode.USAGE : ExitCode.DATA;
    } catch (IllegalArgumentException wrong) {
      err.println("kvasir: " + wrong.getMessage() + ". Try 'kvasir " + command + " --help'.");
      return ExitCode.USAGE;
    } catch (NoSuchFileException missing) {
      err.println("kvasir: there is no file " + missing.getFile());
      return ExitCode.USAGE;
    }
  }
}
