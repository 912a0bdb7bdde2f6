package dev.kvasir.gateway.journal;

import dev.kvasir.net.openai.Usage;
import dev.kvasir.router.flow.RequestEnd;

/**
 * End of a request's answer, as it is to be written down.
 *
 * @param status status of the answer; 0 where there was none
 * @param code error code, for programs; empty where nothing went wrong
 * @param events number of events of the answer, where it was a stream; of another one that tells no
 *     tokens and was too large to be held, the number of tokens that its bytes are taken for
 */
public record Ending(Outcome outcome, int status, String code, Usage usage, long events) {
  /** The end of a request whose caller left before there was an answer. */
  public static final Ending GONE = new Ending(Outcome.GONE, 0, "", Usage.UNKNOWN, 0);

  /** Returns this end as the flow is to know it. */
  public RequestEnd requestEnd(RequestEnd.Verdict verdict) {
    return new RequestEnd(verdict, usage.promptTokens(), usage.cachedTokens(), outputTokens());
  }

  /** Returns the tokens that the caller got, by the worker's account or by counting. */
  public long outputTokens() {
    return usage.outputTokens() >= 0 ? usage.outputTokens() : events;
  }

  /**
   * Returns the tokens of prompt and answer; those of the prompt by the given count if the worker
   * tells none.
   */
  long tokens(int promptTokens) {
    return (usage.promptTokens() >= 0 ? usage.promptTokens() : promptTokens) + outputTokens();
  }

  public Ending with(Usage other) {
    return new Ending(outcome, status, code, other, events);
  }
}
