package dev.kvasir.live.gateway.worker;

import dev.kvasir.Nullable;
import dev.kvasir.live.events.EngineSnapshot;
import java.util.Map;
import java.util.TreeMap;

/** The KV events of a worker, as far as a gateway needs them; on the loop of the router. */
public interface WorkerEvents {
  /** The worker was out of sight: finds out whether it began anew, and what was missed. */
  void check();

  Counts counts();

  /** Where they come from: the same in all gateways that hear them. */
  default String source() {
    return "";
  }

  /** What they have told so far; null where that is not known well enough for another gateway. */
  default @Nullable EngineSnapshot snapshot() {
    return null;
  }

  /**
   * What came of the events so far.
   *
   * @param batches batches that could be read
   * @param connects how often the worker was reached
   * @param gaps how often batches were missing for good, so that the index forgot the worker
   * @param restarts how often the worker began anew
   * @param replays how often it was asked to repeat
   * @param lagSeconds how old the last batch was when it was taken in, by the worker's clock; below
   *     zero before the first
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
