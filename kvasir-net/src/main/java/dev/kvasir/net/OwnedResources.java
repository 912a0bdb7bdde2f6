package dev.kvasir.net;

import dev.kvasir.Nullable;
import java.util.ArrayDeque;
import java.util.Deque;

/** Resources that are closed together: in reverse order, and all of them even if one fails. */
public final class OwnedResources implements AutoCloseable {
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Takes care of it from now on. */
  public <T extends AutoCloseable> T add(T part) {
    parts.push(part);
    return part;
  }

  @Override
  public void close() {
    @Nullable IllegalStateException failed = null;
    while (!parts.isEmpty()) {
      var part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        var name = part.getClass().getSimpleName();
        if (failed == null) failed = new IllegalStateException(name + " could not be closed", e);
        else failed.addSuppressed(e);
      }
    }
    if (failed != null) throw failed;
  }
}
