package dev.kvasir.cli.process;

/** The exit codes of the commands, as in sysexits.h. */
public final class ExitCode {
  public static final int OK = 0;
  public static final int USAGE = 64;
  public static final int DATA = 65;
  public static final int UNAVAILABLE = 69;
  public static final int INTERNAL = 70;

  private ExitCode() {}
}
