package dev.kvasir.events;

import dev.kvasir.Nullable;
import java.util.Map;
import java.util.TreeMap;

/** The KV events of a worker, as far as a gateway needs them; on the loop of the router. */
public interface WorkerEvents {
  /** The worker was out of sight: finds out whether it began anew, and what was missed. */
  void check();

  Counts counts();

  /** Returns where the events come from: the same in all gateways that hear them. */
  default String source() {
    return "";
  }

  /**
   * Returns what the events have told so far; null if that is not known well enough for another
   * gateway.
   */
  default @Nullable EngineSnapshot snapshot() {
    return null;
  }

  /**
   * Counts of what came of the events so far.
   *
   * @param batches batches that could be read
   * @param connects number of times the worker was reached
   * @param gaps number of times batches were missing for good, so that the index forgot the worker
   * @param restarts number of times the worker began anew
   * @param replays number of times it was asked to repeat
   * @param lagSeconds age of the last batch when it was taken in, by the worker's clock; below zero
   *     before the first
   * @param dropped blocks that were left out, by reason
   * @param messagesDropped messages that were left out, by reason
   */
  record Counts(
      long batches,
      long connects,
      long gaps,
      long restarts,
      long replays,
      double lagSeconds,
      Map<String, Long> dropped,
      Map<String, Long> messagesDropped) {
    public Counts {
      dropped = new TreeMap<>(dropped);
      messagesDropped = new TreeMap<>(messagesDropped);
    }
  }
}
