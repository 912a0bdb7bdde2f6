package dev.kvasir.events;

/** Says why a frame cannot be read; it never leaves the decoder. */
final class MalformedFrame extends Exception {
  private static final long serialVersionUID = 1;

  /** The fault that it has. */
  enum Kind {
    /** A value that is not as expected: the next event can be found all the same. */
    VALUE,
    /** Too much, whatever follows. */
    EXCESS
  }

  private final Kind kind;

  MalformedFrame(String reason) {
    this(Kind.VALUE, reason);
  }

  private MalformedFrame(Kind kind, String reason) {
    super(reason, null, false, false);
    this.kind = kind;
  }

  /** The frame holds more than is allowed. */
  static MalformedFrame excess(String reason) {
    return new MalformedFrame(Kind.EXCESS, reason);
  }

  Kind kind() {
    return kind;
  }
}
