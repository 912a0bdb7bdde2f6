package dev.kvasir.offload.onboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.TestTiers;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that the cheapest of all cuts is made, by trying them all. */
class PromotionChoiceTest {
  private static final List<Tier> BELOW = List.of(Tier.HOST, Tier.DISK, Tier.REMOTE, Tier.OBJECT);
  private static final int BLOCKS_MAX = 40;

  @Test
  void noOtherCutOfAFoundPrefixCostsLess() {
    Seeds.each(
        200 * Seeds.scale(),
        random -> {
          var recompute = Duration.ofMillis(random.nextLong(1, 20));
          var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 16, 16);
          var costs = new EnumMap<Tier, ReuseCost>(Tier.class);
          var lowerTiers = new ArrayList<LowerTier>();
          for (var tier : BELOW) {
            var latency = Duration.ofMillis(random.nextLong(60));
            var perBlock = Duration.ofMillis(random.nextLong(30));
            var cost = new ReuseCost(latency, perBlock, recompute);
            costs.put(tier, cost);
            var pool = tier == Tier.HOST ? tiers.host : tiers.pool(tier, 16);
            lowerTiers.add(LowerTier.of(pool, tiers.store).with(cost));
          }
          var found = new ArrayList<Tier>();
          for (int i = random.nextInt(BLOCKS_MAX); i >= 0; i--) {
            found.add(random.nextInt(5) == 0 ? Tier.DEVICE : BELOW.get(random.nextInt(4)));
          }
          int chosen = new PromotionChoice(lowerTiers).blocks(found);
          var least = cost(found, chosen, costs, recompute);
          for (int cut = 0; cut <= found.size(); cut++) {
            assertThat(least).isLessThanOrEqualTo(cost(found, cut, costs, recompute));
          }
        });
  }

  /** Returns the time to load the blocks before the cut and to compute those behind it. */
  private static Duration cost(
      List<Tier> found, int cut, Map<Tier, ReuseCost> costs, Duration recompute) {
    var sum = recompute.multipliedBy(found.size() - cut);
    var before = found.subList(0, cut);
    for (var tier : BELOW) {
      int blocks = (int) before.stream().filter(tier::equals).count();
      var cost = costs.getOrDefault(tier, ReuseCost.FREE);
      if (blocks > 0) sum = sum.plus(cost.loadLatency());
      sum = sum.plus(cost.loadPerBlock().multipliedBy(blocks));
    }
    return sum;
  }
}
