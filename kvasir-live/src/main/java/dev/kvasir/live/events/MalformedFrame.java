package dev.kvasir.live.events;

/** Says why a frame cannot be read; it never leaves the decoder. */
final class MalformedFrame extends Exception {
  private static final long serialVersionUID = 1;

  MalformedFrame(String reason) {
    super(reason, null, false, false);
  }
}
