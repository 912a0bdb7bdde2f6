package dev.kvasir.sim.result;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.sim.workload.Request;

/**
 * Outcome of one request; times in microseconds from its arrival, -1 where they never came.
 *
 * @param instance who answered it, -1 for nobody
 * @param prefillInstance who computed its prompt, -1 for nobody
 * @param routeClass how heavy it was and where it was prefilled, by the names of the route's log;
 *     empty where there is no placement
 * @param ttftMicros when the first token came
 * @param e2eMicros when the last token came
 * @param schedulingMicros when it was admitted to a batch, the first time; as BLIS counts, the last
 * @param gapMicros the time between its tokens, all together
 * @param gaps how many times between tokens that is
 * @param outputTokens how many tokens it got
 * @param cachedTokens tokens that needed no computing
 * @param cached where their blocks were found
 */
public record RequestResult(
    Request request,
    int instance,
    int prefillInstance,
    RequestEnding ending,
    String routeClass,
    long ttftMicros,
    long e2eMicros,
    long schedulingMicros,
    long gapMicros,
    int gaps,
    int outputTokens,
    int cachedTokens,
    CachedBlocks cached) {
  public static final long NEVER = -1;

  /** The mean time between two of its tokens. */
  public double meanGapMicros() {
    return meanGapMicros(gapMicros, request.outputTokens());
  }

  static double meanGapMicros(long gapMicros, int requestedTokens) {
    return (double) gapMicros / Math.max(1, requestedTokens - 1);
  }
}
