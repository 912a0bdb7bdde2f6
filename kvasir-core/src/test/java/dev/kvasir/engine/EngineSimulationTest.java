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
  private static final int LARGE = Seeds.scale() == 1 ? 4 : 20;

  @ParameterizedTest
  @EnumSource(PlanningSettings.Mode.class)
  void invariantsHoldAfterEveryEventAndEverythingIsFreeInTheEnd(PlanningSettings.Mode mode) {
    var sums = new long[2];
    Seeds.each(
        60 * Seeds.scale(),
        random -> {
          var walk =
              new EngineWalk(
                  random,
                  new PlanningSettings(mode, random.nextInt(3) * 100L),
                  EngineWalk.Steps.AWAITED);
          walk.run(COMMANDS);
          var load = walk.drain();
          sums[0] += load.steps();
          sums[1] += load.preemptions();
        });
    System.out.printf("EngineSimulationTest %s: %d steps, %d preempted%n", mode, sums[0], sums[1]);
    if (!Seeds.isReplay()) assertThat(sums[1]).isPositive();
  }

  @ParameterizedTest
  @EnumSource(PlanningSettings.Mode.class)
  void aBlockIsFoundByNobodyBeforeItsStepHasLandedAndNeverIfThatFails(PlanningSettings.Mode mode) {
    var sums = new long[4];
    Seeds.each(
        60 * Seeds.scale(),
        random -> {
          var planning = new PlanningSettings(mode, random.nextInt(3) * 100L);
          var walk = new EngineWalk(random, planning, EngineWalk.Steps.LAUNCHED);
          walk.run(COMMANDS);
          var load = walk.drain();
          sums[0] += load.steps();
          sums[1] += load.preemptions();
          sums[2] += walk.failures();
          sums[3] += walk.cancelled();
        });
    System.out.printf(
        "EngineSimulationTest launched, %s: %d steps, %d preempted, %d failed, %d blocks"
            + " cancelled%n",
        mode, sums[0], sums[1], sums[2], sums[3]);
    if (!Seeds.isReplay()) assertThat(sums).doesNotContain(0);
  }

  /** In the long profile up to 64 run, 400 wait, and prompts have up to 200 blocks. */
  @ParameterizedTest
  @EnumSource(EngineWalk.Steps.class)
  void invariantsHoldAtTheSizesOfUsers(EngineWalk.Steps steps) {
    Seeds.each(
        2 * Seeds.scale(),
        random -> {
          var walk = new EngineWalk(random, PlanningSettings.DEFAULT, steps, LARGE);
          walk.run(2 * COMMANDS);
          assertThat(walk.drain().steps()).isPositive();
        });
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
    var walk = new EngineWalk(random, PlanningSettings.of(mode), EngineWalk.Steps.AWAITED);
    walk.run(COMMANDS);
    walk.drain();
    return walk;
  }
}
