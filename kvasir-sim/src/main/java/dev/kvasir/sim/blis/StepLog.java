package dev.kvasir.sim.blis;

import dev.kvasir.sim.result.Gaps;
import java.util.ArrayList;
import java.util.List;

/**
 * The time each step of an instance put between two tokens, and for how many requests.
 *
 * <p>A request counts for a run of steps; only where its run begins and ends is noted.
 */
final class StepLog {
  private final List<Long> gapMicros = new ArrayList<>();
  private final List<Integer> changes = new ArrayList<>(List.of(0));
  private long sumMicros;

  int steps() {
    return gapMicros.size();
  }

  long sumMicros() {
    return sumMicros;
  }

  void add(long micros) {
    gapMicros.add(micros);
    changes.add(0);
    sumMicros += micros;
  }

  /** A request had a token from each step from {@code first} to before {@code end}. */
  void count(int first, int end) {
    changes.set(first, changes.get(first) + 1);
    changes.set(end, changes.get(end) - 1);
  }

  /** All but one of the steps of a request that counted for them. */
  void except(int step) {
    changes.set(step, changes.get(step) - 1);
    changes.set(step + 1, changes.get(step + 1) + 1);
  }

  Gaps gaps() {
    var gaps = new Gaps();
    int requests = 0;
    for (int step = 0; step < gapMicros.size(); step++) {
      requests += changes.get(step);
      gaps.add(gapMicros.get(step), requests);
    }
    return gaps;
  }
}
