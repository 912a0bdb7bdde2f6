package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanningGateTest {
  private static final int STEPS = 10_000;

  /** Number of steps within which a gate notices that the two ways have changed places. */
  private static final int STEPS_TO_NOTICE = 80;

  private final PlanningGate gate = new PlanningGate();

  @Test
  void theGateClosesWherePlanningAheadLosesAndOpensWhereItWins() {
    assertThat(opened(STEPS, 1_000, 2_000)).isLessThan(STEPS / 25);
    assertThat(opened(STEPS, 2_000, 500)).isGreaterThan(STEPS * 24 / 25);
  }

  @Test
  void theGateStaysOpenWherePlanningCostsNothing() {
    assertThat(opened(STEPS, 0, 0)).isEqualTo(STEPS);
  }

  @Test
  void oneSlowStepDecidesNothing() {
    assertThat(gate.opens()).isTrue();
    gate.ahead(1_000_000);
    opened(2 * PlanningGate.SAMPLES, 1_000, 500);
    assertThat(opened(50, 1_000, 500)).isGreaterThanOrEqualTo(48);
    gate.ahead(1_000_000);
    assertThat(opened(50, 1_000, 500)).isGreaterThanOrEqualTo(48);
  }

  @Test
  void oneFastStepWithoutAPlanDecidesNothing() {
    opened(2 * PlanningGate.SAMPLES, 1_000, 500);
    gate.after(1);
    assertThat(opened(50, 1_000, 500)).isGreaterThanOrEqualTo(45);
  }

  /** Takes the costs of the two ways at first, and their costs after a change. */
  @ParameterizedTest
  @CsvSource({
    "1000, 500, 1000, 2000",
    "1000, 500, 200, 500",
    "1000, 2000, 1000, 500",
    "1000, 2000, 4000, 2000",
  })
  void theGateChangesItsMindWithinTensOfSteps(long after, long ahead, long thenAfter, long then) {
    int open = opened(STEPS, after, ahead);
    assertThat(open > STEPS / 2).isEqualTo(ahead < after);
    opened(STEPS_TO_NOTICE, thenAfter, then);
    int later = opened(STEPS_TO_NOTICE, thenAfter, then);
    if (then < thenAfter) assertThat(later).isGreaterThan(STEPS_TO_NOTICE * 9 / 10);
    else assertThat(later).isLessThan(STEPS_TO_NOTICE / 10);
  }

  /** Returns how many of the steps are planned ahead if the two ways cost that much. */
  private int opened(int steps, long afterNanos, long aheadNanos) {
    int opened = 0;
    for (int i = 0; i < steps; i++) {
      boolean ahead = gate.opens();
      if (ahead) opened++;
      if (ahead) gate.ahead(aheadNanos);
      else gate.after(afterNanos);
    }
    return opened;
  }
}
