package dev.kvasir.router.flow;

/**
 * Executes the flow's decisions for one request, and reports the results to the flow.
 *
 * <p>The flow answers each report with the next {@link Step}; only a request that waits is called
 * back. A driver stops every leg of a request before it reports the failure of one: otherwise the
 * answer could begin before the flow decides.
 */
@FunctionalInterface
public interface RequestDriver {
  /** A part of an attempt that one worker does. */
  enum Leg {
    /** Prefill and decode, at the worker that decodes. */
    WHOLE,
    /** The prefill at the other worker. */
    PREFILL,
    /** The decode of what the other worker prefilled, or prefills at the same time. */
    DECODE
  }

  /** Ends the wait of the request; on the loop of the flow. */
  void resume(Step step);
}
