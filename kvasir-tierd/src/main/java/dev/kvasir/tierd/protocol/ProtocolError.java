package dev.kvasir.tierd.protocol;

import java.io.IOException;

/** A client that does not keep to the protocol; it is told, and the connection is closed. */
public final class ProtocolError extends IOException {
  private static final long serialVersionUID = 1;

  /** Reason for closing a connection. */
  public enum Kind {
    BAD_FRAME(1),
    WRONG_VERSION(2),
    BAD_NAMESPACE(3),
    BAD_BUFFER(4),
    NO_ROOM(5),
    TOO_MANY_CONNECTIONS(6),
    WRONG_USER(7);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }
  }

  private final Kind kind;

  public ProtocolError(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  Kind kind() {
    return kind;
  }
}
