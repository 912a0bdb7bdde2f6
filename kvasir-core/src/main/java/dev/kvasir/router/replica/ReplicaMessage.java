package dev.kvasir.router.replica;

import dev.kvasir.router.limit.KeyRow;
import dev.kvasir.router.view.BookedLoad;
import java.util.List;

/**
 * Report of one gateway to the others.
 *
 * <p>All figures are totals, so a message replaces the one before: the next message repairs a lost
 * one, and a duplicate does no harm.
 *
 * @param gateway by which people know the sender
 * @param epoch which start of the sender
 * @param number of the message since that start
 * @param terms what must be the same in all gateways, as {@code name=value}; only in a whole
 *     message
 * @param workers what the sender has booked on workers
 * @param keys what was asked of the sender with keys that have limits
 * @param homes where sessions are at home since the last message
 */
public record ReplicaMessage(
    String gateway,
    long epoch,
    long number,
    Kind kind,
    List<String> terms,
    List<WorkerRow> workers,
    List<KeyRow> keys,
    List<Home> homes) {
  /** Kind of a message, which says what holds for all that is not in it. */
  public enum Kind {
    /** It is as it was. */
    CHANGES,
    /** There is nothing else. */
    WHOLE,
    /** There is nothing else, and the sender hears the others from now on: they tell it all. */
    HELLO,
    /** The sender is about to stop. */
    LEAVING;

    boolean isWhole() {
      return this == WHOLE || this == HELLO;
    }
  }

  /**
   * Load that the sender has booked on a worker.
   *
   * @param worker its name
   * @param ejections how often the sender has taken it out for requests of its own that failed
   */
  public record WorkerRow(String worker, BookedLoad load, long ejections) {}

  /**
   * The worker where a session is at home.
   *
   * @param worker its name; empty where the session is over
   */
  public record Home(String session, String worker) {}

  public ReplicaMessage {
    terms = List.copyOf(terms);
    workers = List.copyOf(workers);
    keys = List.copyOf(keys);
    homes = List.copyOf(homes);
  }
}
