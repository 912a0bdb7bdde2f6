package dev.kvasir.router.flow;

import dev.kvasir.router.turn.TurnRules;
import java.time.Duration;

/**
 * The limits on requests under way.
 *
 * @param inFlightMax with the workers
 * @param waitingMax in the queue before them
 * @param patience how long one waits before it is refused
 * @param turns who goes first, and how much a worker is given
 */
public record QueueLimits(int inFlightMax, int waitingMax, Duration patience, TurnRules turns) {
  public static final QueueLimits DEFAULT = new QueueLimits(4_096, 1_024, Duration.ofSeconds(30));

  /** Every request goes to the workers at once. */
  public static final QueueLimits NONE =
      new QueueLimits(Integer.MAX_VALUE, 0, Duration.ofSeconds(30));

  /** These, with requests of a class in the order of arrival. */
  public QueueLimits(int inFlightMax, int waitingMax, Duration patience) {
    this(inFlightMax, waitingMax, patience, TurnRules.DEFAULT);
  }

  public QueueLimits {
    if (inFlightMax < 1 || waitingMax < 0 || !patience.isPositive()) {
      throw new IllegalArgumentException(
          inFlightMax + " in flight, " + waitingMax + " waiting for " + patience);
    }
  }
}
