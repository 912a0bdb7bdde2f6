package dev.kvasir.sim.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.trace.Captured;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class FidelityTest {
  /** A caller waits for an answer, and two answers came in another order than predicted. */
  @Test
  void requestsAreComparedWithTheirOwnPredictionHoweverTheyCame() {
    var run = Made.run(6);
    var measured = new ArrayList<Captured>();
    for (int i : new int[] {0, 2, 1, 3, 5, 4}) measured.add(captured(run.requests().get(i)));
    var pairs = Fidelity.of(measured, run).pairs();
    assertThat(pairs).hasSize(6);
    for (int i = 0; i < pairs.size(); i++) {
      var pair = pairs.get(i);
      assertThat(pair.measured()).isEqualTo(measured.get(i));
      assertThat(pair.predicted().request().id()).isEqualTo(pair.measured().request().id());
      assertThat(pair.measuredTtft()).isEqualTo(pair.predicted().ttftMicros());
    }
  }

  private static Captured captured(RequestResult result) {
    return new Captured(
        result.request(),
        "",
        result.ttftMicros() * 1000,
        result.e2eMicros() * 1000,
        result.cachedTokens());
  }
}
