package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import org.junit.jupiter.api.Test;

class LinesSimulationTest {
  @Test
  void nobodyWaitsWhoCouldStartAndNobodyIsOvertakenHoweverManyWait() {
    var most = new int[1];
    Seeds.each(
        20 * Seeds.scale(), random -> most[0] = Math.max(most[0], new LinesWalk(random).run()));
    if (!Seeds.isReplay()) assertThat(most[0]).isGreaterThan(200);
  }
}
