package dev.kvasir.sim.latency;

import java.util.List;

/**
 * Model of how long an engine's work takes, in whole microseconds.
 *
 * <p>Fractions are cut off, not rounded, and a step takes at least one microsecond: the clock of a
 * simulation must move. Several instances may ask at once: a model remembers nothing.
 */
public interface LatencyModel {
  /** The time of one forward pass. */
  long stepMicros(StepShape shape);

  /** The time of a forward pass of decode rows alone, the steady state, without a shape for it. */
  default long decodeMicros(int decodes, long decodeContext) {
    return stepMicros(new StepShape(List.of(), decodes, decodeContext));
  }

  /** The time from a request's arrival until it stands in the queue. */
  long queueingMicros(int promptTokens);

  /** Returns the time that each token handed out adds to that of the steps. */
  long outputTokenMicros();

  /** Returns the time that a request with output adds once, after its last token. */
  long afterDecodeMicros();
}
