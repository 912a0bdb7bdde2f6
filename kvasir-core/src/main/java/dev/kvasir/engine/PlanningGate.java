package dev.kvasir.engine;

import java.util.Arrays;

/**
 * Turns planning ahead off where it loses: where what is left to do between two steps takes longer
 * with a plan made ahead than without one.
 *
 * <p>It compares the medians of the last few steps of either kind, so that a single step decides
 * nothing, however slow it was. Now and then one step is planned the other way. If that looks
 * better, the next few are too, and then the gate decides again.
 */
final class PlanningGate {
  /** Number of steps of one kind over which a median is taken. */
  static final int SAMPLES = 5;

  /** Number of steps from one that is planned the other way to the next. */
  static final int PROBE_STEPS = 64;

  /** Factor by which planning ahead may be slower before it is turned off: less is noise. */
  private static final double TOLERANCE = 1.05;

  private final Samples ahead = new Samples();
  private final Samples after = new Samples();
  private boolean wins = true;
  private int steps;

  /** Number of the next steps that are planned the other way. */
  private int probes;

  /** Flag that is true if one such step was planned and may lead to more of them. */
  private boolean probed;

  /** Returns whether to plan the next step ahead. */
  boolean opens() {
    // Where planning costs nothing there is nothing to compare.
    if (!ahead.areEnough() || ahead.median == 0) return true;
    if (!after.areEnough()) return false;
    if (probes == 0 && ++steps >= PROBE_STEPS) {
      steps = 0;
      probes = 1;
      probed = true;
    }
    if (probes == 0) return wins;
    probes--;
    return !wins;
  }

  /** A step with a plan made ahead waited that long for its batch. */
  void ahead(long nanos) {
    boolean isHint = !wins && nanos <= after.median * TOLERANCE;
    ahead.add(nanos);
    if (!decide() && isHint) probeOn();
  }

  /** A step without one waited that long. */
  void after(long nanos) {
    boolean isHint = wins && nanos * TOLERANCE < ahead.median;
    after.add(nanos);
    if (!decide() && isHint) probeOn();
  }

  /** Decides anew, and returns whether the decision differs from the one before. */
  private boolean decide() {
    if (!ahead.areEnough() || !after.areEnough()) return false;
    boolean won = wins;
    wins = ahead.median <= after.median * TOLERANCE;
    if (wins == won) return false;
    probes = 0;
    return true;
  }

  /** One step has hinted at the other way: as many more as it takes to turn the median. */
  private void probeOn() {
    if (probed) probes = SAMPLES / 2;
    probed = false;
  }

  /** Times that the last few steps took. */
  private static final class Samples {
    private final long[] nanos = new long[SAMPLES];
    private final long[] sorted = new long[SAMPLES];
    private int next;
    private int count;
    private long median;

    void add(long sample) {
      int at = next;
      next = at + 1 == SAMPLES ? 0 : at + 1;
      if (count < SAMPLES) count++;
      if (nanos[at] == sample) return;
      nanos[at] = sample;
      System.arraycopy(nanos, 0, sorted, 0, SAMPLES);
      Arrays.sort(sorted);
      median = sorted[SAMPLES / 2];
    }

    boolean areEnough() {
      return count >= SAMPLES;
    }
  }
}
