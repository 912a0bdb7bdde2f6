package dev.kvasir.cli.process;

/** This machine lacks something that a command needs; the message says what, and what to do. */
public final class Unavailable extends RuntimeException {
  private static final long serialVersionUID = 1;

  public Unavailable(String message) {
    super(message);
  }
}
