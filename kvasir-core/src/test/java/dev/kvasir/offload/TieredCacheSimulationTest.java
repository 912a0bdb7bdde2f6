package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import java.util.ArrayList;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Pools, pipelines and stores together, under every fault, in virtual time. */
class TieredCacheSimulationTest {
  /** The long profile runs eight hundred times as many. */
  private static final int SEEDS = Seeds.scale() == 1 ? 250 : 10_000 * Seeds.scale();

  private static final int STORMS = Seeds.scale() == 1 ? 150 : 1_200 * Seeds.scale();

  private static final int OPERATIONS = 2_000;

  @Test
  void invariantsHoldAfterEveryEventAndEverythingDrainsWhenFaultsEnd() {
    var sums = new ArrayList<>(Collections.nCopies(6, 0L));
    Seeds.each(
        SEEDS,
        random -> {
          var walk = new TieredCacheWalk(random);
          walk.run(OPERATIONS);
          var totals = walk.totals();
          for (int i = 0; i < sums.size(); i++) sums.set(i, sums.get(i) + totals.get(i));
        });
    report("completed, failed, evicted, filtered, cancelled, refused: " + sums);
    // Every way for a block to end was taken, and often.
    if (!Seeds.isReplay()) assertThat(sums).allMatch(count -> count > SEEDS);
  }

  @Test
  void promptsOfUsersOnQueuesSmallerThanTheyAreKeepAllInvariants() {
    Seeds.each(6 * Seeds.scale(), random -> new TieredCacheWalk(random, 40).run(120));
  }

  @Test
  void cancellationsByTheThousandLeakNothingAndAreConfirmedInTime() {
    var cancellations = new ArrayList<Long>();
    Seeds.each(STORMS, random -> cancellations.add(new TieredCacheWalk(random).storm(OPERATIONS)));
    long total = cancellations.stream().mapToLong(Long::longValue).sum();
    report("cancellations: " + total);
    if (!Seeds.isReplay()) assertThat(total).isGreaterThanOrEqualTo(800L * STORMS);
  }

  private static void report(String line) {
    System.out.println("TieredCacheSimulationTest " + line);
  }
}
