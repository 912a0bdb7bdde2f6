package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PlanningGateTest {
  @Test
  void theGateClosesWherePlanningAheadLosesAndOpensWhereItWins() {
    var gate = new PlanningGate();
    assertThat(opened(gate, 1_000, 2_000)).isLessThan(30);
    assertThat(opened(gate, 2_000, 500)).isGreaterThan(9_000);
  }

  @Test
  void theGateStaysOpenWherePlanningCostsNothing() {
    assertThat(opened(new PlanningGate(), 0, 0)).isEqualTo(10_000);
  }

  /** How many of 10,000 steps are planned ahead where the two ways cost that much. */
  private static int opened(PlanningGate gate, long afterNanos, long aheadNanos) {
    int opened = 0;
    for (int i = 0; i < 10_000; i++) {
      boolean ahead = gate.opens();
      if (ahead) opened++;
      if (ahead) gate.ahead(aheadNanos);
      else gate.after(afterNanos);
      if (i == 0) gate.after(afterNanos);
    }
    return opened;
  }
}
