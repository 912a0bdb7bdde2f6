package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The last line of a terminal, written over as things go on; nothing where there is no terminal.
 */
public final class TerminalLine implements AutoCloseable {
  private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");
  private static final long INTERVAL_NANOS = 200_000_000;
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final @Nullable PrintWriter terminal;
  private final long startNanos = System.nanoTime();
  private long nextNanos = startNanos + INTERVAL_NANOS;
  private boolean written;

  private TerminalLine(@Nullable PrintWriter terminal) {
    this.terminal = terminal;
  }

  public static TerminalLine on(PrintWriter err) {
    return new TerminalLine(isTerminal() ? err : null);
  }

  /** Looks at standard error; a console would describe standard output. */
  private static boolean isTerminal() {
    try {
      var target = Files.readSymbolicLink(STANDARD_ERROR).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException elsewhere) {
      return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }
  }

  /** Returns whether it is time to write again. */
  public boolean isDue() {
    return terminal != null && System.nanoTime() >= nextNanos;
  }

  public void write(String text) {
    if (terminal == null) return;
    long now = System.nanoTime();
    nextNanos = now + INTERVAL_NANOS;
    written = true;
    terminal.print(CLEAR_LINE + text + ", " + (now - startNanos) / 1_000_000_000 + " s");
    terminal.flush();
  }

  @Override
  public void close() {
    if (terminal == null || !written) return;
    terminal.print(CLEAR_LINE);
    terminal.flush();
  }
}
