package dev.kvasir.router.flow;

/**
 * Executes the flow's decisions for one request, and reports the results to the flow.
 *
 * <p>All methods are called on the loop of the flow. A driver that works on another thread stops
 * the request before it reports a failure; otherwise the answer could begin before the flow
 * decides.
 */
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

  /** The request may go on to be submitted. */
  void accept();

  /** Sends a leg, by {@link FlowRequest#route} and {@link FlowRequest#attempts}. */
  void send(Leg leg);

  /** Gives up the legs that are under way; nothing more is told of them. */
  void cancel();

  /** Tells the caller that the request is not served, and then the flow that it is over. */
  void refuse(Refusal refusal);

  /** The books of the request are closed; the flow has forgotten it. */
  void closed();
}
