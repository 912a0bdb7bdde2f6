package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import org.junit.jupiter.api.Test;

/** Stores that stand still, and answer when nobody waits any more, in virtual time. */
class StallSimulationTest {
  private static final int OPERATIONS = 1_000;

  private long timedOut;
  private long late;

  @Test
  void longPromptsAreAnsweredInTimeTooThoughNoQueueTakesThem() {
    Seeds.each(6 * Seeds.scale(), random -> new StallWalk(random, 40).run(100));
  }

  @Test
  void requestIsAnsweredInTimeAndALateAnswerDisturbsNobody() {
    int seeds = Seeds.scale() == 1 ? 200 : 500 * Seeds.scale();
    Seeds.each(
        seeds,
        random -> {
          var walk = new StallWalk(random);
          timedOut += walk.run(OPERATIONS);
          late += walk.late();
        });
    System.out.println("StallSimulationTest loads timed out " + timedOut + ", late " + late);
    if (!Seeds.isReplay()) {
      assertThat(timedOut).isGreaterThan(seeds);
      assertThat(late).isGreaterThan(seeds);
    }
  }
}
