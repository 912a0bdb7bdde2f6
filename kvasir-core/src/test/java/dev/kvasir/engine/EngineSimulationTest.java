package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Engines under random commands and faults, in virtual time. */
class EngineSimulationTest {
  private static final int COMMANDS = 300;

  @ParameterizedTest
  @EnumSource(PlanningSettings.Mode.class)
  void invariantsHoldAfterEveryEventAndEverythingIsFreeInTheEnd(PlanningSettings.Mode mode) {
    var sums = new long[2];
    Seeds.each(
        60 * Seeds.scale(),
        random -> {
          var walk = new EngineWalk(random, new PlanningSettings(mode, random.nextInt(3) * 100L));
          walk.run(COMMANDS);
          var load = walk.drain();
          sums[0] += load.steps();
          sums[1] += load.preemptions();
        });
    System.out.printf("EngineSimulationTest %s: %d steps, %d preempted%n", mode, sums[0], sums[1]);
    if (!Seeds.isReplay()) assertThat(sums[1]).isPositive();
  }

  @Test
  void repairSchedulesWhatSequentialPlanningDoes() {
    Seeds.each(
        40 * Seeds.scale(),
        random -> {
          long seed = random.nextLong();
          var sequential = walk(seed, PlanningSettings.Mode.SEQUENTIAL);
          var repaired = walk(seed, PlanningSettings.Mode.REPAIR);
          assertThat(repaired.steps()).isEqualTo(sequential.steps());
        });
  }

  private static EngineWalk walk(long seed, PlanningSettings.Mode mode) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    var walk = new EngineWalk(random, PlanningSettings.of(mode));
    walk.run(COMMANDS);
    walk.drain();
    return walk;
  }
}
