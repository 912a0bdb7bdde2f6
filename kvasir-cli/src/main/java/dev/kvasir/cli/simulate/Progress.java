package dev.kvasir.cli.simulate;

import java.io.PrintWriter;

/** Tells on a terminal how far a run is; nothing anywhere else. */
final class Progress implements AutoCloseable {
  private final TerminalLine line;

  private Progress(TerminalLine line) {
    this.line = line;
  }

  static Progress on(PrintWriter err) {
    return new Progress(TerminalLine.on(err));
  }

  void completed(long requests) {
    if ((requests & 0xff) == 0 && line.isDue()) line.write(requests + " requests");
  }

  @Override
  public void close() {
    line.close();
  }
}
