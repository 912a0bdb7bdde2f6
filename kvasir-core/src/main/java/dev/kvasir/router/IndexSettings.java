package dev.kvasir.router;

import java.time.Duration;

/**
 * How much a prefix index may hold.
 *
 * @param entriesMax different blocks it knows of
 * @param instancesMax instances at a time
 * @param guessesMax blocks expected to come to instances that have not told yet
 * @param guessLifetime how long a block is expected before it is given up
 */
public record IndexSettings(
    int entriesMax, int instancesMax, int guessesMax, Duration guessLifetime) {
  public static final IndexSettings DEFAULT =
      new IndexSettings(1 << 20, 64, 1 << 16, Duration.ofSeconds(5));

  public IndexSettings {
    if (entriesMax < 1 || instancesMax < 1 || guessesMax < 1) {
      throw new IllegalArgumentException(
          "%d entries, %d instances, %d guesses at most"
              .formatted(entriesMax, instancesMax, guessesMax));
    }
    if (guessLifetime.isNegative()) {
      throw new IllegalArgumentException("guesses that live " + guessLifetime);
    }
  }
}
