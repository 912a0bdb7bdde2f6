package dev.kvasir.cli.process;

import dev.kvasir.sim.calibrate.CalibrationError;
import dev.kvasir.sim.latency.LatencyError;
import dev.kvasir.sim.spec.SpecError;
import dev.kvasir.sim.trace.TraceError;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Reports wrong options, settings and files in one line each, and chooses the exit code. */
public final class UserErrors {
  /** Prefixes of the place of a setting that is not in a file. */
  private static final Pattern NO_FILE = Pattern.compile("(--|KVASIR_)");

  private UserErrors() {}

  /** What a command does. */
  @FunctionalInterface
  public interface Work {
    int run() throws IOException, InterruptedException;
  }

  /** Runs the work of a command; returns its exit code. */
  public static int caught(PrintWriter err, String command, Work work)
      throws IOException, InterruptedException {
    try {
      return work.run();
    } catch (TraceError | CalibrationError wrong) {
      err.println("kvasir: " + wrong.getMessage());
      return ExitCode.DATA;
    } catch (SpecError wrong) {
      var said = String.valueOf(wrong.getMessage());
      err.println("kvasir: " + said);
      return NO_FILE.matcher(said).lookingAt() ? ExitCode.USAGE : ExitCode.DATA;
    } catch (IllegalArgumentException | LatencyError wrong) {
      var said = String.valueOf(wrong.getMessage());
      var end = said.endsWith("?") ? "" : ".";
      err.println("kvasir: " + said + end + " Try 'kvasir " + command + " --help'.");
      return ExitCode.USAGE;
    } catch (NoSuchFileException missing) {
      var folder = Path.of(missing.getFile()).toAbsolutePath().getParent();
      boolean isThere = folder == null || Files.exists(folder);
      err.println(
          "kvasir: there is no file "
              + missing.getFile()
              + (isThere ? "" : ": its folder is not there"));
      return ExitCode.USAGE;
    }
  }
}
