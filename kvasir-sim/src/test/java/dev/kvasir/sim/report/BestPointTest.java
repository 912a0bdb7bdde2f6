package dev.kvasir.sim.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.cost.FleetHardware;
import dev.kvasir.sim.cost.Prices;
import dev.kvasir.sim.cost.TierPrice;
import dev.kvasir.sim.table.ComparisonJson;
import dev.kvasir.sim.table.ComparisonTable;
import dev.kvasir.sim.table.SummaryJson;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

final class BestPointTest {
  private static final FleetHardware ONE = new FleetHardware(1, Map.of(), 1000);
  private static final FleetHardware TWO = new FleetHardware(2, Map.of(), 1000);
  private static final FleetHardware THREE = new FleetHardware(3, Map.of(), 1000);

  @Test
  void theCheapestThatKeepsTheTargetsIsBest() {
    var comparison =
        Made.comparison(
            0.9,
            List.of(
                Made.point("a", 0.5, ONE),
                Made.point("b", 1.0, THREE),
                Made.point("c", 0.95, TWO)));

    assertThat(BestPoint.of(comparison))
        .isEqualTo(
            new BestPoint(
                2, "2 of 3 keep the targets for 90.0 % of the requests; this one costs least"));
  }

  @Test
  void whereNoneKeepsTheTargetsTheClosestIsBest() {
    var comparison =
        Made.comparison(0.9, List.of(Made.point("a", 0.5, ONE), Made.point("b", 0.6, THREE)));

    assertThat(BestPoint.of(comparison))
        .isEqualTo(
            new BestPoint(
                1, "none keeps the targets for 90.0 % of the requests; this one comes closest"));
  }

  @Test
  void ofThoseThatCostTheSameTheLeastMemoryIsBest() {
    var much = new FleetHardware(1, Map.of(Tier.HOST, 5000L), 1000);
    var little = new FleetHardware(1, Map.of(Tier.HOST, 1000L), 1000);
    var comparison =
        Made.comparison(0.9, List.of(Made.point("a", 1.0, much), Made.point("b", 0.95, little)));

    assertThat(BestPoint.of(comparison).index()).isEqualTo(1);
    assertThat(BestPoint.of(comparison).reason()).endsWith("needs the least memory below the GPUs");
  }

  @Test
  void memoryCostsWhatItsPriceSays() {
    var fleet = new FleetHardware(2, Map.of(Tier.HOST, 1L << 20, Tier.DISK, 1L << 21), 1 << 10);
    var below = List.of(TierPrice.room(Tier.HOST, 0.5), TierPrice.room(Tier.DISK, 0.25));

    assertThat(fleet.cost(3600, Prices.GPU_HOURS)).isEqualTo(2);
    assertThat(fleet.cost(1800, new Prices(3, below))).isEqualTo(3.5);
    assertThat(fleet.gibBelow()).isEqualTo(3);
  }

  @Test
  void requestsToABucketArePaidFor() {
    var point = Made.point("a", 1, new FleetHardware(0, Map.of(Tier.DISK, 0L), 0));
    // Two instances store 30 blocks and load 10 each: in requests of 4, 15 that write, 5 that read.
    var bucket = new TierPrice(Tier.DISK, 1, 5, 2, 4);
    var priced =
        new Comparison.Point(
            point.values(), point.summary(), point.fleet(), new Prices(1, List.of(bucket)));
    var comparison = new Comparison(List.of("key"), List.of(priced), Goodput.Targets.NONE, 0.9);

    assertThat(comparison.cost(priced)).isEqualTo((15 * 5 + 5 * 2) / 1000.0);
  }

  @Test
  void theTableMarksTheBestAndSaysWhy() {
    var comparison =
        Made.comparison(0.9, List.of(Made.point("a", 0.5, ONE), Made.point("b", 1.0, TWO)));

    var lines = ComparisonTable.of(comparison).lines().toList();
    assertThat(lines.get(0)).startsWith("key  TTFT p50 ms").endsWith("GPU-hours");
    assertThat(lines.get(1)).startsWith("a").doesNotContain("*");
    assertThat(lines.get(2)).startsWith("b").endsWith("*");
    assertThat(lines).contains("best *  key=b");
  }

  @Test
  void theJsonHoldsTheFiguresOfEveryRun() {
    var comparison =
        Made.comparison(0.9, List.of(Made.point("a", 0.5, ONE), Made.point("b", 1.0, TWO)));

    var array = JsonMapper.shared().readTree(ComparisonJson.write(comparison));
    assertThat(array.size()).isEqualTo(2);
    assertThat(array.at("/0/settings/key").asString()).isEqualTo("a");
    assertThat(array.at("/0/summary"))
        .isEqualTo(
            JsonMapper.shared()
                .readTree(SummaryJson.write(comparison.points().getFirst().summary())));
    assertThat(array.at("/0").has("best")).isFalse();
    assertThat(array.at("/1/best").asString()).startsWith("1 of 2 keep");
    assertThat(array.at("/1/cost/gpus").asInt()).isEqualTo(2);
  }
}
