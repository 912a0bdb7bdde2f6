package dev.kvasir.net.client;

/** An answer that is not HTTP, or not within the bounds. */
final class MalformedAnswer extends Exception {
  private static final long serialVersionUID = 1;

  MalformedAnswer(String message) {
    super(message);
  }
}
