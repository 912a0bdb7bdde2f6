package dev.kvasir.tools.load;

import dev.kvasir.net.openai.Usage;

/** Outcome of a request; times are those of the load. */
sealed interface Answer {
  /**
   * All of it came.
   *
   * @param firstNanos when the first text came
   * @param lastNanos when the last text came
   * @param endNanos when the stream ended
   * @param gapsNanos between each piece of text and the next
   */
  @SuppressWarnings("ArrayRecordComponent") // made once and added up once
  record Complete(long firstNanos, long lastNanos, long endNanos, long[] gapsNanos, Usage usage)
      implements Answer {}

  /** Something else came, or nothing. */
  record Failed(String kind, String message) implements Answer {}
}
