package dev.kvasir.router.flow;

import dev.kvasir.router.limit.Refusal;

/**
 * The next step of a request, as the {@link RequestFlow} decides: the answer to whatever a driver
 * reports, or the end of a wait.
 */
public sealed interface Step {
  /** Sends to workers, by {@link FlowRequest#route} and {@link FlowRequest#attempts}. */
  enum Send implements Step {
    /** All of it, to the worker that decodes. */
    WHOLE,
    /** The prefill, to the other worker; the decode follows when it is done. */
    PREFILL,
    /** The decode of what the other worker prefilled. */
    DECODE,
    /** The prefill to the other worker and the decode beside it, in this order. */
    PREFILL_AND_DECODE
  }

  /** Sends nothing to a worker. */
  enum Local implements Step {
    /** Reads the prompt and submits it: the request is counted. */
    READ,
    /** Waits for {@link RequestDriver#resume}. */
    WAIT,
    /** Leaves everything as it is. */
    NOTHING
  }

  /** Tells the caller that the request is not served, and then the flow that it is over. */
  record Refuse(Refusal refusal) implements Step {}
}
