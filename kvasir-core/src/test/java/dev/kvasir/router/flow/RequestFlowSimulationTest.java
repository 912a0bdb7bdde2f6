package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import org.junit.jupiter.api.Test;

class RequestFlowSimulationTest {
  @Test
  void whateverWorkersDoEachRequestIsAnsweredOnceAndAllBooksAreClosed() {
    var sum = new FlowWalk.Sum();
    Seeds.each(50 * Seeds.scale(), random -> new FlowWalk(random, sum).run());
    if (Seeds.isReplay()) return;
    assertThat(sum.answered).isGreaterThan(sum.refused);
    for (long count :
        new long[] {sum.refused, sum.retried, sum.fellBack, sum.ejected, sum.displaced, sum.left}) {
      assertThat(count).isGreaterThan(3);
    }
  }
}
