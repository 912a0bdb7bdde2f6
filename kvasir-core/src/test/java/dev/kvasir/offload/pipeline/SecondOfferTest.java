package dev.kvasir.offload.pipeline;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.TestTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.HeldStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Blocks that are used again are offered again to the tiers that lack them. */
class SecondOfferTest {
  private static final Duration SOON = Duration.ofMillis(20);

  private final VirtualLoop loop = new VirtualLoop();
  private final FrequencySketch sketch = new FrequencySketch(1024);
  private final PrefixRegistry registry = new PrefixRegistry(sketch);
  private final BlockPool device = pool(Tier.DEVICE);
  private final BlockPool host = pool(Tier.HOST);
  private final BlockPool disk = pool(Tier.DISK);
  private final HeldStore hostStore = new HeldStore(loop);
  private final HeldStore diskStore = new HeldStore(loop);

  @Test
  void blockThatBecomesHotIsOfferedAgainUnderTheFrequencyPolicy() {
    var cache = cache(OffloadPolicy.allOf(List.of(OffloadPolicy.presence(), hot())));
    compute(cache, 8);
    assertThat(hostStore.calls).isEmpty();
    assertThat(cache.edges().getFirst().totals().filtered()).isEqualTo(8);
    use(cache, 8);
    assertThat(hostStore.calls.element().copies()).hasSize(8);
    succeed(hostStore);
    succeed(diskStore);
    assertThat(host.cached()).isEqualTo(8);
    // What is there, or on its way, is not offered once more.
    long filtered = cache.edges().getFirst().totals().filtered();
    use(cache, 8);
    assertThat(hostStore.calls).isEmpty();
    assertThat(cache.edges().getFirst().totals().filtered()).isEqualTo(filtered);
  }

  @Test
  void hopThatFailedIsRepeatedWhenTheBlockIsUsedAgain() {
    var cache = cache(OffloadPolicy.presence());
    compute(cache, 8);
    succeed(hostStore);
    fail(diskStore);
    assertThat(disk.cached()).isZero();
    use(cache, 8);
    assertThat(hostStore.calls).isEmpty();
    succeed(diskStore);
    assertThat(disk.cached()).isEqualTo(8);
  }

  @Test
  void hopThatFailedIsRepeatedWhenTheBlockIsComputedAgain() {
    var cache = cache(OffloadPolicy.presence());
    compute(cache, 8);
    succeed(hostStore);
    fail(diskStore);
    device.clear();
    compute(cache, 8);
    assertThat(hostStore.calls).isEmpty();
    succeed(diskStore);
    assertThat(disk.cached()).isEqualTo(8);
    assertThat(cache.settlement().pending()).isZero();
  }

  @Test
  void hopThatFailedIsRepeatedWhenTheBlockIsBroughtUp() {
    var cache = cache(OffloadPolicy.presence());
    compute(cache, 8);
    succeed(hostStore);
    fail(diskStore);
    device.clear();
    cache.find(TestTiers.hashes(0, 8), SOON, found -> device.release(found.blocks()));
    succeed(hostStore);
    succeed(diskStore);
    assertThat(disk.cached()).isEqualTo(8);
  }

  @Test
  void blocksThatAreUsedAgainGoBeforeThoseThatWereOnlyComputed() {
    var cache = cache(OffloadPolicy.presence());
    compute(cache, 8);
    fail(hostStore);
    // One batch moves, one is on deck, one is made; the others wait in order of priority.
    for (int i = 1; i < 6; i++) compute(cache, 8 * i, 8);
    use(cache, 8);
    for (int i = 0; i < 3; i++) succeed(hostStore);
    assertThat(hostStore.calls.element().copies().getFirst().block().hash())
        .isEqualTo(TestTiers.hash(0));
  }

  @Test
  void promptThatIsLargerThanTheQueueIsSentDownAsFarAsThereIsRoom() {
    var limits =
        new PipelineSettings.Limits(
            10, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofMillis(1));
    var settings =
        new PipelineSettings(
            PipelineSettings.Batching.DEFAULT,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            1,
            limits);
    var cache =
        new TieredKvCache(
            loop, registry, device, List.of(LowerTier.of(host, hostStore).with(settings)));
    compute(cache, 16);
    assertThat(hostStore.calls.element().copies().getFirst().block().hash())
        .isEqualTo(TestTiers.hash(0));
    assertThat(cache.edges().getFirst().totals().refused()).isEqualTo(6);
    assertThat(cache.declined()).isEqualTo(6);
  }

  private static OffloadPolicy hot() {
    return OffloadPolicy.frequency(1);
  }

  private TieredKvCache cache(OffloadPolicy policy) {
    return new TieredKvCache(
        loop,
        registry,
        device,
        List.of(LowerTier.of(host, hostStore).with(policy), LowerTier.of(disk, diskStore)),
        OnboardingLimits.DEFAULT,
        sketch);
  }

  private BlockPool pool(Tier tier) {
    var settings = PoolSettings.of(tier, 64, 16).with(Eviction.lru());
    return new BlockPool(settings, registry, new KvEvents());
  }

  private void compute(TieredKvCache cache, int blocks) {
    compute(cache, 0, blocks);
  }

  /** As an engine does: takes blocks, fills them, and gives them back. */
  private void compute(TieredKvCache cache, int first, int blocks) {
    var span = requireNonNull(cache.open(names(first), 0));
    span.reserve(blocks * 16);
    span.fill(blocks * 16);
    span.release();
  }

  private void use(TieredKvCache cache, int blocks) {
    var match = cache.match(names(0), blocks);
    assertThat(match.blocks()).isEqualTo(blocks);
    requireNonNull(cache.open(names(0), blocks)).release();
    loop.runFor(SOON);
  }

  private static BlockNames names(int first) {
    return new BlockNames() {
      @Override
      public BlockHash name(int index) {
        return TestTiers.hash(first + index);
      }

      @Override
      public TokenBlock block(int index) {
        return TestTiers.content(first + index);
      }
    };
  }

  private void succeed(HeldStore store) {
    store.succeed();
    loop.runFor(SOON);
  }

  private void fail(HeldStore store) {
    store.answer(new CopyOutcome.Failed("left alone"));
    loop.runFor(SOON);
  }
}
