package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import org.junit.jupiter.api.Test;

/** A plan made ahead and put right is the plan that would be made anew. */
class RepairTest {
  private static final int STEPS = 400;

  /** The long profile runs a million steps. */
  private static final int SEEDS = Seeds.scale() == 1 ? 60 : 125 * Seeds.scale();

  @Test
  void aRepairedPlanEqualsAFreshOneWhateverHappened() {
    var outcomes = new long[Repaired.Outcome.values().length];
    var preemptions = new long[2];
    Seeds.each(
        SEEDS,
        random -> {
          var walk = new SchedulerWalk(random);
          walk.run(STEPS);
          walk.drain();
          for (int i = 0; i < outcomes.length; i++) outcomes[i] += walk.outcomes[i];
          preemptions[0] += walk.preempted;
          preemptions[1] += walk.cancelled;
        });
    System.out.printf(
        "RepairTest clean %d, repaired %d, recomputed %d; preempted %d, cancelled %d%n",
        outcomes[0], outcomes[1], outcomes[2], preemptions[0], preemptions[1]);
    if (Seeds.isReplay()) return;
    for (long count : outcomes) assertThat(count).isGreaterThan(SEEDS);
    for (long count : preemptions) assertThat(count).isPositive();
  }
}
