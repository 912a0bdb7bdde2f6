package dev.kvasir.cli;

/** What a command's end says to whoever started it; the numbers are those of sysexits.h. */
final class ExitCode {
  static final int OK = 0;
  static final int USAGE = 64;
  static final int UNAVAILABLE = 69;
  static final int INTERNAL = 70;

  private ExitCode() {}
}
