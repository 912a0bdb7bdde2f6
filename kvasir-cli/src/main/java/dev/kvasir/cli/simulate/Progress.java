package dev.kvasir.cli.simulate;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;

/** One line on a terminal that tells how far a run is; nothing anywhere else. */
final class Progress implements AutoCloseable {
  private static final long INTERVAL_NANOS = 200_000_000;
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final PrintWriter err;
  private final boolean shown;
  private final long startNanos = System.nanoTime();
  private long nextNanos = startNanos + INTERVAL_NANOS;
  private boolean written;

  private Progress(PrintWriter err, boolean shown) {
    this.err = err;
    this.shown = shown;
  }

  static Progress on(PrintWriter err) {
    var terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal);
    return new Progress(err, terminal.isPresent());
  }

  void completed(long requests) {
    if (!shown || (requests & 0xff) != 0) return;
    long now = System.nanoTime();
    if (now < nextNanos) return;
    nextNanos = now + INTERVAL_NANOS;
    written = true;
    err.print(CLEAR_LINE + requests + " requests, " + (now - startNanos) / 1_000_000_000 + " s");
    err.flush();
  }

  @Override
  public void close() {
    if (!written) return;
    err.print(CLEAR_LINE);
    err.flush();
  }
}
