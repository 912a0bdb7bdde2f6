package dev.kvasir.embedded.step;

import java.io.IOException;
import java.io.Serial;

/** The device has lost all that was in it, and does nothing more until it is started anew. */
public final class DeviceLost extends IOException {
  @Serial private static final long serialVersionUID = 1;

  public DeviceLost(String message, Throwable cause) {
    super(message, cause);
  }
}
