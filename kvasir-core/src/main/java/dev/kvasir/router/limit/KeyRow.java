package dev.kvasir.router.limit;

/**
 * Use that was made of a key at a gateway since it started.
 *
 * @param concurrent requests under way
 * @param requestsLeft what the key may still ask for, as far as the gateway knows
 * @param tokensLeft the same in tokens
 */
public record KeyRow(
    String key,
    KeyLimits limits,
    long requests,
    long tokens,
    int concurrent,
    double requestsLeft,
    double tokensLeft) {
  /** Returns the same use with nothing under way. */
  public KeyRow idle() {
    return new KeyRow(key, limits, requests, tokens, 0, requestsLeft, tokensLeft);
  }
}
