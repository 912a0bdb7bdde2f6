package dev.kvasir.live.gateway.journal;

import dev.kvasir.live.openai.Usage;

/**
 * What is to be written down of the answer of a request.
 *
 * @param status of the answer; 0 where there was none
 * @param code what went wrong, for programs; empty where nothing did
 * @param events of the answer, where it was a stream; of another one that tells no tokens and was
 *     too large to be held, what its bytes are taken for
 */
public record Ending(Outcome outcome, int status, String code, Usage usage, long events) {
  /** What the caller got, by the worker's account or by counting. */
  public long outputTokens() {
    return usage.outputTokens() >= 0 ? usage.outputTokens() : events;
  }

  /** What prompt and answer came to; the prompt by the given count where the worker tells none. */
  long tokens(int promptTokens) {
    return (usage.promptTokens() >= 0 ? usage.promptTokens() : promptTokens) + outputTokens();
  }

  public Ending with(Usage other) {
    return new Ending(outcome, status, code, other, events);
  }
}
