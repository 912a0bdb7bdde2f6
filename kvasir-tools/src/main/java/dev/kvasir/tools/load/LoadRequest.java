package dev.kvasir.tools.load;

import java.util.function.Supplier;

/**
 * A request to send, at its time.
 *
 * @param arrivalNanos when, from the beginning of the load on
 * @param prompt makes the text when it is needed, so that it need not be kept
 * @param session empty for a request that stands alone
 */
public record LoadRequest(
    long arrivalNanos, Supplier<String> prompt, int outputTokens, String session) {
  public LoadRequest {
    if (arrivalNanos < 0 || outputTokens < 1) {
      throw new IllegalArgumentException(
          outputTokens + " tokens asked for at " + arrivalNanos + " ns");
    }
  }
}
