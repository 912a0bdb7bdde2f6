package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;

/** One line on a terminal that tells how far a run is; nothing anywhere else. */
final class Progress implements AutoCloseable {
  private static final long INTERVAL_NANOS = 200_000_000;
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final @Nullable PrintWriter terminal;
  private final long startNanos = System.nanoTime();
  private long nextNanos = startNanos + INTERVAL_NANOS;
  private boolean written;

  private Progress(@Nullable PrintWriter terminal) {
    this.terminal = terminal;
  }

  static Progress on(PrintWriter err) {
    var terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal);
    return new Progress(terminal.isPresent() ? err : null);
  }

  void completed(long requests) {
    if (terminal == null || (requests & 0xff) != 0) return;
    long now = System.nanoTime();
    if (now < nextNanos) return;
    nextNanos = now + INTERVAL_NANOS;
    written = true;
    terminal.print(
        CLEAR_LINE + requests + " requests, " + (now - startNanos) / 1_000_000_000 + " s");
    terminal.flush();
  }

  @Override
  public void close() {
    if (terminal == null || !written) return;
    terminal.print(CLEAR_LINE);
    terminal.flush();
  }
}
