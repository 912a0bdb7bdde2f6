package dev.kvasir.cli.process;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.engine.GpuUnavailable;
import dev.kvasir.gpu.library.LibraryFailure;
import dev.kvasir.gpu.library.LibraryMissing;
import dev.kvasir.net.server.ListenFailure;
import dev.kvasir.sim.calibrate.CalibrationError;
import dev.kvasir.sim.latency.LatencyError;
import dev.kvasir.sim.trace.TraceError;
import dev.kvasir.spec.SpecError;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Pattern;

/** Reports wrong options, settings and files in one line each, and chooses the exit code. */
public final class UserErrors {
  /** Prefixes of the place of a setting that is not in a file. */
  private static final Pattern NO_FILE = Pattern.compile("(--|KVASIR_)");

  private UserErrors() {}

  /** Body of a command. */
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
      var message = String.valueOf(wrong.getMessage());
      err.println("kvasir: " + message);
      return NO_FILE.matcher(message).lookingAt() ? ExitCode.USAGE : ExitCode.DATA;
    } catch (IllegalArgumentException | LatencyError wrong) {
      var message = String.valueOf(wrong.getMessage());
      var end = message.endsWith("?") ? "" : ".";
      err.println("kvasir: " + message + end + " Try 'kvasir " + command + " --help'.");
      return ExitCode.USAGE;
    } catch (IOException | UncheckedIOException | Unavailable | ListenFailure wrong) {
      return report(err, wrong);
    }
  }

  /** Reports what is no bug: a file, an address or a device that cannot be used. */
  private static int report(PrintWriter err, Exception wrong) {
    err.println("kvasir: " + text(wrong));
    err.flush();
    return isLacking(wrong) ? ExitCode.UNAVAILABLE : ExitCode.DATA;
  }

  /** Reports it if it is no bug; the exit code, or {@link ExitCode#INTERNAL} if it is one. */
  public static int reportIfMistake(PrintWriter err, Throwable thrown) {
    return switch (thrown) {
      case IOException wrong -> report(err, wrong);
      case UncheckedIOException wrong -> report(err, wrong);
      case Unavailable wrong -> report(err, wrong);
      case ListenFailure wrong -> report(err, wrong);
      default -> ExitCode.INTERNAL;
    };
  }

  private static boolean isLacking(Exception wrong) {
    return wrong instanceof Unavailable
        || wrong instanceof ListenFailure
        || wrong instanceof GpuUnavailable
        || wrong instanceof CudaFailure
        || wrong instanceof LibraryMissing
        || wrong instanceof LibraryFailure
        || wrong instanceof SocketException
        || wrong instanceof UnknownHostException;
  }

  private static String text(Exception wrong) {
    return switch (wrong) {
      case NoSuchFileException missing -> missing(missing.getFile());
      case AccessDeniedException denied ->
          "this user may not read or write " + denied.getFile() + "; choose another file";
      case FileSystemException refused ->
          "cannot use " + refused.getFile() + ": " + reason(refused.getReason());
      case CharacterCodingException _ -> "a file is no text in UTF-8; name another";
      case UnknownHostException unknown -> "there is no host " + unknown.getMessage();
      case UncheckedIOException outer when isBare(outer) -> text(cause(outer));
      case ListenFailure failure ->
          failure.getMessage() + "; see the options with 'port' and 'host' in --help.";
      default -> String.valueOf(wrong.getMessage()).lines().findFirst().orElse("input or output");
    };
  }

  /** Returns whether it says no more than its cause. */
  private static boolean isBare(UncheckedIOException outer) {
    return cause(outer).toString().equals(outer.getMessage());
  }

  /** It always has one. */
  private static IOException cause(UncheckedIOException outer) {
    return Objects.requireNonNull(outer.getCause());
  }

  private static String missing(String file) {
    var folder = Path.of(file).toAbsolutePath().getParent();
    boolean isThere = folder == null || Files.exists(folder);
    return "there is no file " + file + (isThere ? "" : ": its folder is not there");
  }

  private static String reason(@Nullable String reason) {
    return reason == null ? "it is of another kind than expected" : reason;
  }
}
