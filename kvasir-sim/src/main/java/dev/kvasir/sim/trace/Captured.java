package dev.kvasir.sim.trace;

import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Turn;

/**
 * A request of real traffic, with its measured times.
 *
 * @param instance who answered it; empty if that was not written down
 * @param ttftNanos until the first token; 0 if not known
 * @param e2eNanos until the last token; 0 if not known
 * @param cachedTokens how many tokens of the prompt did not have to be computed
 */
public record Captured(
    Request request, String instance, long ttftNanos, long e2eNanos, int cachedTokens) {
  public Captured {
    if (ttftNanos < 0 || e2eNanos < 0 || cachedTokens < 0) {
      throw new IllegalArgumentException(
          "ttft " + ttftNanos + " ns, e2e " + e2eNanos + " ns, cached " + cachedTokens);
    }
  }

  /** The same with a prompt that is so many times as short. */
  Captured shortened(double times) {
    var shorter =
        new Request(
            request.id(),
            request.arrivalNanos(),
            Math.max(1, (int) Math.rint(request.promptTokens() / times)),
            request.outputTokens(),
            request.content().shortened(times),
            request.caller(),
            request.turn(),
            request.deadlineNanos());
    return new Captured(shorter, instance, ttftNanos, e2eNanos, cachedTokens);
  }

  Captured in(Turn turn) {
    return new Captured(request.in(turn), instance, ttftNanos, e2eNanos, cachedTokens);
  }
}
