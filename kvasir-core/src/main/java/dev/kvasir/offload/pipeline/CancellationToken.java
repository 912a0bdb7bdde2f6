package dev.kvasir.offload.pipeline;

import dev.kvasir.offload.store.Callbacks;
import java.util.LinkedHashSet;

/**
 * A request to cancel, shared by a transfer's handle and its containers until they are upgraded.
 */
final class CancellationToken {
  private final LinkedHashSet<Runnable> waiting = new LinkedHashSet<>();
  private boolean requested;

  boolean isRequested() {
    return requested;
  }

  void request() {
    if (requested) return;
    requested = true;
    Callbacks.drain(waiting);
  }

  /** Runs once when cancellation is requested. */
  void whenRequested(Runnable then) {
    waiting.add(then);
  }

  void forget(Runnable then) {
    waiting.remove(then);
  }
}
