package dev.kvasir.router.limit;

/**
 * Limits on what may be asked with one key.
 *
 * @param requestsPerMinute started
 * @param tokensPerMinute of prompts and answers
 * @param concurrentMax under way at a time, waiting ones included
 */
public record KeyLimits(int requestsPerMinute, int tokensPerMinute, int concurrentMax) {
  public static final KeyLimits UNLIMITED =
      new KeyLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

  public KeyLimits {
    if (requestsPerMinute < 1 || tokensPerMinute < 1 || concurrentMax < 1) {
      throw new IllegalArgumentException(
          "%d requests and %d tokens a minute, %d at a time"
              .formatted(requestsPerMinute, tokensPerMinute, concurrentMax));
    }
  }
}
