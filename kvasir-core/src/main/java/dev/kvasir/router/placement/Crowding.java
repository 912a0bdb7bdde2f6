package dev.kvasir.router.placement;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.Role;

/**
 * Measure of how crowded the instances of one role are with prefills.
 *
 * <p>A prompt that is computed there makes those wait that come after it, as long as nobody is
 * idle. With n instances of which each is busy for the share b, about {@code b^(a+1) / (1-b)} wait
 * at a time, where {@code a = sqrt(2(n+1)) - 1}: Sakasegawa's approximation of a queue with n
 * servers. What one second of work more adds to all waiting is its derivative by b, over n.
 *
 * @param busy the share of the time that their prefills take
 */
record Crowding(int instances, double busy) {
  /** Beyond this the queue grows however long one waits. */
  private static final double BUSY_MAX = 0.95;

  /**
   * Factor by which waits for work of very different sizes exceed those for work of equal sizes.
   */
  private static final double VARIATION = 1.5;

  /** Cost of each stream that is held up while no instance is idle. */
  private static final double STREAM = 1;

  static Crowding of(ClusterView cluster, Role role) {
    int instances = 0;
    double rate = 0;
    double speed = 0;
    for (var view : cluster.instances()) {
      if (view.role() != role) continue;
      instances++;
      rate += view.load().prefillRate();
      speed += view.workPerSecond();
    }
    return new Crowding(instances, Math.min(BUSY_MAX, rate / speed));
  }

  /** The seconds that others lose for a second of prefill on an instance with so many streams. */
  double price(int streams) {
    double power = Math.sqrt(2 * (instances + 1.0)) - 1;
    double allBusy = StrictMath.pow(busy, power);
    double idle = 1 - busy;
    double waiting = (power + 1) * allBusy / idle + allBusy * busy / (idle * idle);
    return VARIATION * waiting / instances + STREAM * streams * allBusy;
  }
}
