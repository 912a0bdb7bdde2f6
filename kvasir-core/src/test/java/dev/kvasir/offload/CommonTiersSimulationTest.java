package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Two engines over the same tiers, under every fault, in virtual time. */
class CommonTiersSimulationTest {
  @Test
  void longPromptsOfTwoEnginesComeThroughQueuesSmallerThanTheyAre() {
    var fetched = new ArrayList<Long>();
    Seeds.each(6 * Seeds.scale(), random -> fetched.add(new CommonTiersWalk(random, 40).run(120)));
    if (!Seeds.isReplay()) assertThat(fetched).allMatch(blocks -> blocks > 0);
  }

  @Test
  void enginesShareTiersWithoutLoadingTwiceReservingTooMuchOrCountingMoves() {
    var fetched = new ArrayList<Long>();
    int seeds = Seeds.scale() == 1 ? 100 : 300 * Seeds.scale();
    Seeds.each(seeds, random -> fetched.add(new CommonTiersWalk(random).run(1_000)));
    long total = fetched.stream().mapToLong(Long::longValue).sum();
    System.out.println("CommonTiersSimulationTest blocks brought up: " + total);
    if (!Seeds.isReplay()) assertThat(total).isGreaterThan(15L * seeds);
  }
}
