package dev.kvasir.router.flow;

import dev.kvasir.router.Route;

/**
 * End of a request, by its driver's account.
 *
 * @param promptTokens as the worker counted them, or {@link Route#UNREPORTED}
 * @param cachedTokens of these, what the worker had cached, or {@link Route#UNREPORTED}
 * @param outputTokens of the answer
 */
public record RequestEnd(Verdict verdict, int promptTokens, int cachedTokens, long outputTokens) {
  /** Meaning of the end for the worker that answered. */
  public enum Verdict {
    /** It answered to the end. */
    ANSWERED,
    /** It began an answer and did not finish it. */
    BROKEN,
    /** Nothing: the request was refused or wrong, or its caller left. */
    NONE
  }

  /** The end of a request of which nothing more is known. */
  public static RequestEnd of(Verdict verdict) {
    return new RequestEnd(verdict, Route.UNREPORTED, Route.UNREPORTED, 0);
  }

  /** Prompt and answer together; the prompt by the given count where the worker told none. */
  long tokens(int knownPromptTokens) {
    return (promptTokens >= 0 ? promptTokens : knownPromptTokens) + outputTokens;
  }
}
