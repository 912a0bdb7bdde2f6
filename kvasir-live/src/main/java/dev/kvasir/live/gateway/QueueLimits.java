package dev.kvasir.live.gateway;

import java.time.Duration;

/**
 * How many requests a gateway has at a time.
 *
 * @param inFlightMax with the workers
 * @param waitingMax before it, in the order they came
 * @param patience how long one waits before it is told to come again
 */
public record QueueLimits(int inFlightMax, int waitingMax, Duration patience) {
  public static final QueueLimits DEFAULT = new QueueLimits(4_096, 1_024, Duration.ofSeconds(30));

  public QueueLimits {
    if (inFlightMax < 1 || waitingMax < 0 || !patience.isPositive()) {
      throw new IllegalArgumentException(
          inFlightMax + " in flight, " + waitingMax + " waiting for " + patience);
    }
  }
}
