package dev.kvasir.sim.workload;

/**
 * Where in which conversation a request stands.
 *
 * @param session empty for a request that stands alone
 * @param round counts from 0
 * @param thinkNanos how long after the answer to the round before it is asked
 */
public record Turn(String session, int round, long thinkNanos) {
  public static final Turn ALONE = new Turn("", 0, 0);

  public Turn {
    if (round < 0 || thinkNanos < 0) {
      throw new IllegalArgumentException("round " + round + " after " + thinkNanos + " ns");
    }
  }

  public boolean isAlone() {
    return session.isEmpty();
  }
}
