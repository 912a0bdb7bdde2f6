package dev.kvasir.sim.workload;

import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;

/**
 * The place of a request in its conversation.
 *
 * @param session empty for a request that stands alone
 * @param round counts from 0
 * @param thinkNanos how long after the answer to the round before it is asked
 * @param expectation of the caller about the next turn
 */
public record Turn(String session, int round, long thinkNanos, Expectation expectation) {
  public static final Turn ALONE = new Turn("", 0, 0);

  /** A turn whose caller says nothing about the next one. */
  public Turn(String session, int round, long thinkNanos) {
    this(session, round, thinkNanos, Expectation.NOTHING);
  }

  public Turn {
    if (round < 0 || thinkNanos < 0) {
      throw new IllegalArgumentException("round " + round + " after " + thinkNanos + " ns");
    }
  }

  /** Returns the same turn with that expectation of its caller. */
  public Turn withExpectation(Expectation hint) {
    return new Turn(session, round, thinkNanos, hint);
  }

  public boolean isAlone() {
    return session.isEmpty();
  }
}
