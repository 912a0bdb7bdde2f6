package dev.kvasir.sim.blis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Seeds;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SteppedTiersTest {
  private static final int TOKENS = 4;

  private final VirtualLoop loop = new VirtualLoop();

  @Test
  void cachedBlocksMoveToTheHostAboveTheThresholdAndNoMoreThanThat() {
    var tiers = tiers(10, 100, 0.5);
    use(tiers, 1, 5);
    assertThat(tiers.tiers().getFirst().stored()).isZero();
    use(tiers, 2, 3);
    assertThat(tiers.tiers().getFirst().stored()).isEqualTo(3);
    assertThat(tiers.available()).isEqualTo(10);
  }

  @Test
  void aThresholdBetweenTwoBlocksIsPassedByTheUpperOne() {
    var tiers = tiers(15, 100, 0.9);
    use(tiers, 1, 13);
    assertThat(tiers.tiers().getFirst().stored()).isZero();
    use(tiers, 2, 1);
    // 14 of 15 are more than nine tenths.
    assertThat(tiers.tiers().getFirst().stored()).isEqualTo(1);
  }

  @Test
  void aReloadTakesItsLatencyAndTheWholeMicrosecondsOfItsTokensOnce() {
    var tiers = tiers(10, 100, 0.5);
    use(tiers, 1, 8);
    assertThat(tiers.tiers().getFirst().stored()).isEqualTo(3);
    assertThat(tiers.drainPendingMicros()).isZero();
    use(tiers, 1, 8);
    // 7 for the transfer, and 3 blocks of 4 tokens at 5 tokens a microsecond.
    assertThat(tiers.drainPendingMicros()).isEqualTo(7 + 3);
    assertThat(tiers.drainPendingMicros()).isZero();
    assertThat(tiers.tiers().getFirst().loaded()).isEqualTo(3);
  }

  @Test
  void whatIsOnTheHostIsFoundAsIfItWereHere() {
    var tiers = tiers(10, 100, 0.5);
    use(tiers, 1, 8);
    var match = tiers.match(names(1), 8);
    assertThat(match.blocks()).isEqualTo(8);
    assertThat(match.idle()).isEqualTo(8);
    assertThat(match.below()).isZero();
    assertThat(tiers.has(names(1).name(7))).isTrue();
    assertThat(tiers.has(names(2).name(0))).isFalse();
  }

  @Test
  void aReloadWithinAThousandTicksIsThrashingAndALaterOneIsNot() {
    var tiers = tiers(10, 100, 0.5);
    use(tiers, 1, 8);
    loop.runFor(Duration.ofNanos(999_000));
    use(tiers, 1, 8);
    assertThat(tiers.tiers().getFirst().thrashed()).isEqualTo(3);
    loop.runFor(Duration.ofMillis(1));
    use(tiers, 1, 8);
    assertThat(tiers.tiers().getFirst().loaded()).isEqualTo(6);
    assertThat(tiers.tiers().getFirst().thrashed()).isEqualTo(3);
  }

  @Test
  void theHostHoldsNoMoreThanItsBlocksAndTheOldestMakesRoom() {
    var tiers = tiers(10, 4, 0);
    use(tiers, 1, 3);
    use(tiers, 2, 3);
    assertThat(tiers.tiers().getFirst().stored()).isEqualTo(6);
    assertThat(tiers.tiers().getFirst().evicted()).isEqualTo(2);
    // Of the first prompt the blocks that came first are gone, those from its end.
    assertThat(tiers.match(names(1), 3).blocks()).isEqualTo(1);
    assertThat(tiers.match(names(2), 3).blocks()).isEqualTo(3);
  }

  /** Hits of memory h and of the host c, misses of memory m, look-ups in vain on the host n. */
  @Test
  void theHitRateIsHitsOfBothTiersAmongHitsMissesAndLookUpsInVain() {
    var tiers = tiers(10, 100, 0.5);
    use(tiers, 1, 8);
    // Nothing on either: m = 8, n = 1.
    assertThat(tiers.hitRate()).isZero();
    use(tiers, 1, 8);
    // All on one of them, so that no look-up was in vain: h = 5, c = 3.
    assertThat(tiers.hits()).isEqualTo(5 + 3);
    assertThat(tiers.hitRate()).isCloseTo(8.0 / (8 + 8 + 1), within(1e-12));
    use(tiers, 1, 9);
    // The ninth block is on neither: m = 9, n = 2.
    assertThat(tiers.hitRate()).isCloseTo(16.0 / (16 + 9 + 2), within(1e-12));
  }

  @Test
  void aPlanThatIsThrownAwayIsNoLookUp() {
    var tiers = tiers(10, 100, 0.5);
    for (int i = 0; i < 5; i++) tiers.match(names(1), 8);
    use(tiers, 1, 8);
    assertThat(tiers.misses()).isEqualTo(8 + 1);
  }

  @Test
  void releaseDropsTheHostsCopiesOfWhatMemoryHolds() {
    var tiers = tiers(20, 100, 0.5);
    use(tiers, 1, 8);
    // The back of the first prompt goes to the host, and its middle is lost for the others.
    use(tiers, 3, 6);
    use(tiers, 2, 12);
    assertThat(tiers.match(names(1), 8).blocks()).isEqualTo(2);
    assertThat(tiers.isOnHost(names(1).name(5))).isTrue();
    use(tiers, 1, 6);
    assertThat(tiers.isInMemory(names(1).name(5))).isTrue();
    assertThat(tiers.isOnHost(names(1).name(5))).isFalse();
    assertThat(tiers.isOnHost(names(1).name(6))).isTrue();
  }

  @Test
  void aBlockThatNobodyUsesIsOnOneTierAtATime() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var tiers = tiers(12, 1 + random.nextInt(20), random.nextDouble());
          for (int i = 0; i < 60; i++) {
            use(tiers, random.nextInt(4), 1 + random.nextInt(10));
            for (int block = 0; block < 40; block++) {
              assertThat(places(tiers, block / 10, block % 10)).isLessThan(2);
            }
          }
          assertThat(tiers.hitRate()).isBetween(0.0, 1.0);
        });
  }

  private static int places(SteppedTiers tiers, int prompt, int block) {
    var name = names(prompt).name(block);
    return (tiers.isInMemory(name) ? 1 : 0) + (tiers.isOnHost(name) ? 1 : 0);
  }

  private SteppedTiers tiers(int blocks, int hostBlocks, double threshold) {
    var settings =
        PoolSettings.of(Tier.DEVICE, blocks, TOKENS)
            .with(Eviction.named("lru", new FrequencySketch(blocks)));
    var pool = new BlockPool(settings, new PrefixRegistry(), new KvEvents());
    var host = new TierSpec(Tier.HOST, hostBlocks, 5, Duration.ofNanos(7000));
    return new SteppedTiers(loop, pool, host, threshold);
  }

  /** Computes a prompt of so many blocks, or finds it, and lets go of it. */
  private static void use(SteppedTiers tiers, int prompt, int blocks) {
    var names = names(prompt);
    var span = requireNonNull(tiers.open(names, tiers.match(names, blocks).blocks()));
    span.reserve(blocks * TOKENS);
    span.fill(blocks * TOKENS);
    span.release();
  }

  private static ContentNames names(int prompt) {
    return ContentNames.of(Content.unique(prompt), TOKENS, 0);
  }
}
