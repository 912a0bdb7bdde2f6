package dev.kvasir.tools.load;

/** Says that a server answered, but not as asked. */
final class RefusedAnswer extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;

  RefusedAnswer(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  int status() {
    return status;
  }
}
