package dev.kvasir.tierd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.tierd.cache.LoadCosts;
import org.junit.jupiter.api.Test;

class LoadCostsTest {
  private static final int TOKENS = 16;
  private final LoadCosts costs = new LoadCosts();

  /** A tier of that latency and time for a chunk, seen often enough. */
  private void tier(long latency, long each) {
    for (int i = 1; i <= 50; i++)
      costs.loaded(Tier.DISK, i % 10 + 1, latency + (i % 10 + 1) * each);
  }

  private void engine(long nanosPerToken) {
    for (int i = 0; i < 20; i++) costs.computed(1_000, 1_000 * nanosPerToken);
  }

  @Test
  void whatIsNotMeasuredIsLoaded() {
    assertThat(costs.worthLoading(Tier.DISK, 1, TOKENS)).isTrue();
    tier(1_000_000, 1_000_000);
    assertThat(costs.worthLoading(Tier.DISK, 1, TOKENS)).isTrue();
    engine(1);
    assertThat(costs.worthLoading(Tier.DISK, 1, TOKENS)).isFalse();
    assertThat(costs.worthLoading(Tier.HOST, 1, TOKENS)).isTrue();
  }

  @Test
  void aLatencyPaysOffForMoreChunks() {
    tier(1_000_000, 10_000);
    engine(10_000);
    assertThat(costs.loadNanos(Tier.DISK, 20)).isCloseTo(1_200_000, within(1_000.0));
    assertThat(costs.worthLoading(Tier.DISK, 5, TOKENS)).isFalse();
    assertThat(costs.worthLoading(Tier.DISK, 20, TOKENS)).isTrue();
  }

  @Test
  void timeThatAnEngineWaitsCountsLittle() {
    engine(1_000);
    for (int i = 0; i < 10; i++) costs.computed(1_000, 50_000_000);
    costs.computed(1_000, 1_000_000);
    assertThat(costs.nanosPerToken(1_000)).isLessThan(6_500);
    assertThat(costs.nanosPerToken(1_000)).isGreaterThan(1_000);
  }

  @Test
  void whatIsNotOfferedIsTriedEverySoOften() {
    tier(1_000_000, 1_000_000);
    engine(1);
    int offered = 0;
    for (int i = 0; i < 10 * LoadCosts.PROBE_EVERY; i++) {
      if (costs.worthLoading(Tier.DISK, 1, TOKENS)) offered++;
    }
    assertThat(offered).isEqualTo(10);
  }

  /** Attention makes long prompts dearer: a disk too slow for short ones may do for long ones. */
  @Test
  void whatComputingTakesGoesByTheLength() {
    tier(1_000_000, 400_000);
    for (int i = 0; i < 5; i++) {
      costs.computed(2_048, 2_048 * 20_000L);
      costs.computed(32_768, 32_768 * 40_000L);
    }
    assertThat(costs.nanosPerToken(8_192)).isCloseTo(30_000, within(1.0));
    assertThat(costs.worthLoading(Tier.DISK, 128, TOKENS)).isFalse();
    assertThat(costs.worthLoading(Tier.DISK, 2_048, TOKENS)).isTrue();
  }

  @Test
  void whatWasMeasuredIsKnownToTheNextProcess() {
    tier(1_000_000, 400_000);
    engine(30_000);
    var next = new LoadCosts();
    next.read(costs.text());
    assertThat(next.text()).isEqualTo(costs.text());
    assertThat(next.loadNanos(Tier.DISK, 7)).isEqualTo(costs.loadNanos(Tier.DISK, 7));
    var other = new LoadCosts();
    other.read("disk 1 2\ncomputed\nnowhere 1 1 1 1 1 1\nx");
    assertThat(other.text()).isEqualTo(new LoadCosts().text());
  }
}
