package dev.kvasir.offload.onboard;

import dev.kvasir.offload.store.Deadlines;
import java.time.Duration;

/**
 * Limits for loads, so that they neither fill a tier nor keep callers waiting.
 *
 * @param loadTimeout how long a store may take to load blocks before the waiting request continues
 *     without them
 * @param searchesMax searches that may wait for loads; further ones get the blocks at the top at
 *     once
 * @param reservedPercentMax how much of a tier may be reserved for loads, so that a stalled store
 *     never takes all the room that computing needs
 */
public record OnboardingLimits(Duration loadTimeout, int searchesMax, int reservedPercentMax) {
  private static final int PERCENT = 100;

  public static final OnboardingLimits DEFAULT =
      new OnboardingLimits(Duration.ofSeconds(10), 1024, 50);

  public OnboardingLimits {
    Deadlines.requirePositive("loadTimeout", loadTimeout);
    if (searchesMax < 1) {
      throw new IllegalArgumentException(searchesMax + " searches at most, expected 1 up");
    }
    if (reservedPercentMax < 1 || reservedPercentMax > PERCENT) {
      throw new IllegalArgumentException(
          reservedPercentMax + " percent reserved at most, expected 1 to " + PERCENT);
    }
  }

  /** The most blocks that may be reserved on a tier of that many; one at least. */
  public int reservedMax(int blocks) {
    return Math.max(1, (int) ((long) blocks * reservedPercentMax / PERCENT));
  }
}
