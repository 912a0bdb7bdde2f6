package dev.kvasir.sim.report;

/**
 * Mean waits that theory gives for queues with arrivals at random.
 *
 * <p>Waits count in units of the mean service time; the load is the share of time that a server is
 * busy, from 0 up to 1.
 */
public final class QueueingTheory {
  private QueueingTheory() {}

  /** One server, service times drawn from an exponential distribution. */
  public static double singleExponentialWait(double load) {
    check(load, 1);
    return load / (1 - load);
  }

  /** One server, every service as long as any other. */
  public static double singleConstantWait(double load) {
    return singleExponentialWait(load) / 2;
  }

  /**
   * One server, service times of any distribution.
   *
   * @param variation their standard deviation over their mean
   */
  public static double singleWait(double load, double variation) {
    return singleExponentialWait(load) * (1 + variation * variation) / 2;
  }

  /** Several servers at one queue, service times drawn from an exponential distribution. */
  public static double exponentialWait(double load, int servers) {
    return waitingShare(load, servers) / (servers * (1 - load));
  }

  /** Returns the share of arrivals that find all servers busy: Erlang's formula C. */
  public static double waitingShare(double load, int servers) {
    check(load, servers);
    double blocked = lostShare(load * servers, servers);
    return blocked / (1 - load * (1 - blocked));
  }

  /** Returns the share of arrivals that are lost where nobody can wait: Erlang's formula B. */
  public static double lostShare(double offered, int servers) {
    double lost = 1;
    for (int i = 1; i <= servers; i++) lost = offered * lost / (i + offered * lost);
    return lost;
  }

  /** Returns how many are in a system on average, by Little's law. */
  public static double present(double arrivalsPerSecond, double stayedSeconds) {
    return arrivalsPerSecond * stayedSeconds;
  }

  private static void check(double load, int servers) {
    if (!(load >= 0 && load < 1) || servers < 1) {
      throw new IllegalArgumentException("load " + load + " on " + servers + " servers");
    }
  }
}
