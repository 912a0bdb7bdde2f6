package dev.kvasir.engine;

/**
 * Counts what planning does, where it does it, so that virtual time can be charged for that.
 *
 * <p>A look is working out what a sequence gets, or finding one of its blocks in KV memory. A check
 * is far cheaper: reading one change of the memory, or using an answer that was kept.
 */
final class PlanningWork {
  /** Number of checks that take as long as one look; the planning benches measure it. */
  static final int CHECKS_PER_LOOK = 8;

  private long looks;
  private long checks;

  void look() {
    looks++;
  }

  void look(int times) {
    looks += times;
  }

  void check() {
    checks++;
  }

  void check(long changes) {
    checks += changes;
  }

  /** Returns the work done since the last call, in looks; a part of one counts as one. */
  long drain() {
    long units = looks;
    looks = 0;
    // Most steps check nothing.
    if (checks == 0) return units;
    units += Math.ceilDiv(checks, CHECKS_PER_LOOK);
    checks = 0;
    return units;
  }
}
