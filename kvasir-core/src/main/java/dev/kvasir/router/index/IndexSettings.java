package dev.kvasir.router.index;

import java.time.Duration;

/**
 * The bounds of a prefix index.
 *
 * @param entriesMax different blocks it knows of
 * @param guessesMax blocks expected on instances that have not reported them yet
 * @param guessLifetime how long a block is expected before it is given up
 * @param stride how many blocks a look-up advances while no instance's prefix ends; 1 misses
 *     nothing, more is quicker for long prompts
 */
public record IndexSettings(int entriesMax, int guessesMax, Duration guessLifetime, int stride) {
  public static final IndexSettings DEFAULT =
      new IndexSettings(1 << 20, 1 << 16, Duration.ofSeconds(5), 8);

  public IndexSettings {
    if (entriesMax < 1 || guessesMax < 1 || stride < 1) {
      throw new IllegalArgumentException(
          "%d entries, %d guesses, stride %d".formatted(entriesMax, guessesMax, stride));
    }
    if (guessLifetime.isNegative()) {
      throw new IllegalArgumentException("guesses that live " + guessLifetime);
    }
  }

  public IndexSettings withEntries(int entries) {
    return new IndexSettings(entries, guessesMax, guessLifetime, stride);
  }
}
