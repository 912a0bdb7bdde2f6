package dev.kvasir.sim.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Seeds;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class QueueingTheoryTest {
  private static final Percentage CLOSE = Percentage.withPercentage(6);

  @Test
  void formulasAgreeWithKnownValues() {
    assertThat(QueueingTheory.singleExponentialWait(0.8)).isCloseTo(4, within(1e-12));
    assertThat(QueueingTheory.singleConstantWait(0.8)).isCloseTo(2, within(1e-12));
    assertThat(QueueingTheory.singleWait(0.8, 1)).isCloseTo(4, within(1e-12));
    assertThat(QueueingTheory.singleWait(0.8, 0)).isCloseTo(2, within(1e-12));
    // Two servers with one erlang between them: a third of the arrivals waits.
    assertThat(QueueingTheory.waitingShare(0.5, 2)).isCloseTo(1.0 / 3, within(1e-12));
    assertThat(QueueingTheory.lostShare(1, 2)).isCloseTo(0.2, within(1e-12));
    for (double load : new double[] {0.3, 0.5, 0.7, 0.9, 0.95}) {
      assertThat(QueueingTheory.waitingShare(load, 1)).isCloseTo(load, within(1e-12));
      assertThat(QueueingTheory.exponentialWait(load, 1))
          .isCloseTo(QueueingTheory.singleExponentialWait(load), within(1e-9));
    }
  }

  @Test
  void queuesPlayedThroughWaitAsTheFormulasSay() {
    Seeds.each(
        2,
        random -> {
          for (double load : new double[] {0.3, 0.7}) {
            assertThat(playedWait(random, load, 1, 1))
                .isCloseTo(QueueingTheory.singleExponentialWait(load), CLOSE);
            assertThat(playedWait(random, load, 1, 0))
                .isCloseTo(QueueingTheory.singleConstantWait(load), CLOSE);
            assertThat(playedWait(random, load, 4, 1))
                .isCloseTo(QueueingTheory.exponentialWait(load, 4), CLOSE);
          }
        });
  }

  /** The mean wait of many arrivals, each served by the server that is free first. */
  private static double playedWait(
      RandomGenerator random, double load, int servers, int variation) {
    int arrivals = 400_000;
    double[] free = new double[servers];
    double now = 0;
    double waited = 0;
    for (int i = 0; i < arrivals; i++) {
      now += random.nextExponential() / (load * servers);
      double start = Math.max(now, free[0]);
      waited += start - now;
      free[0] = start + (variation == 0 ? 1 : random.nextExponential());
      Arrays.sort(free);
    }
    return waited / arrivals;
  }
}
