package dev.kvasir.live.gateway;

/**
 * What is to be written down of the answer of a request.
 *
 * @param status of the answer; 0 where there was none
 * @param code what went wrong, for programs; empty where nothing did
 * @param events of the answer, where it was a stream
 */
record Ending(Outcome outcome, int status, String code, Usage usage, long events) {
  /** What the caller got, by the worker's account or by counting. */
  long outputTokens() {
    return usage.outputTokens() >= 0 ? usage.outputTokens() : events;
  }
}
