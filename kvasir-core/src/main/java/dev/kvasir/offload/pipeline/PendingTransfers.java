package dev.kvasir.offload.pipeline;

import dev.kvasir.offload.store.Callbacks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts the transfers that have not ended, on all pipelines that share it.
 *
 * <p>A transfer to the next tier begins before the one above ends, so a chain settles as a whole.
 */
public final class PendingTransfers {
  private final List<Runnable> waiting = new ArrayList<>();
  private long open;

  /** Returns the number of transfers that have not ended. */
  public long pending() {
    return open;
  }

  /** Runs when nothing is pending: now, or when the last transfer ends. */
  public void whenSettled(Runnable then) {
    if (open == 0) then.run();
    else waiting.add(then);
  }

  void open() {
    open++;
  }

  void close() {
    if (--open > 0) return;
    var woken = new ArrayDeque<>(waiting);
    waiting.clear();
    Callbacks.drain(woken);
  }
}
