package dev.kvasir.cli.process;

/** What a command's end says to whoever started it; the numbers are those of sysexits.h. */
public final class ExitCode {
  public static final int OK = 0;
  public static final int USAGE = 64;
  public static final int DATA = 65;
  public static final int UNAVAILABLE = 69;
  public static final int INTERNAL = 70;

  private ExitCode() {}
}
