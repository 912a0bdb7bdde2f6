package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import org.junit.jupiter.api.Test;

class RequestFlowSimulationTest {
  private static final int LARGE = Seeds.scale() == 1 ? 3 : 10;

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

  /** In the long profile up to 60 workers, and hundreds of requests that may wait. */
  @Test
  void invariantsHoldAtTheSizesOfUsers() {
    Seeds.each(2 * Seeds.scale(), random -> new FlowWalk(random, new FlowWalk.Sum(), LARGE).run());
  }
}
