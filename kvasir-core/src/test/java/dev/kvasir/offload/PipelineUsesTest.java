package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.store.SlowStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that what the pipeline itself does with blocks does not count as their use. */
class PipelineUsesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final VirtualLoop loop = new VirtualLoop();
  private final FrequencySketch sketch = new FrequencySketch(1024);
  private final PrefixRegistry registry = new PrefixRegistry(sketch);
  private final List<BlockPool> pools = new ArrayList<>();

  @Test
  void blockThatWasComputedOnceHasOneUseAfterTwoHops() {
    var cache = tieredCache(Eviction.lru(), 16, 16, 16);
    send(cache, 0, 8);
    loop.run(1000);
    assertThat(pools.getLast().cached()).isEqualTo(8);
    for (int i = 0; i < 8; i++) assertThat(sketch.count(TestTiers.hash(i))).isEqualTo(1);
  }

  @Test
  void blockThatIsBroughtUpFromTheBottomHasOneUseMore() {
    var cache = tieredCache(Eviction.lru(), 16, 16, 16);
    send(cache, 0, 8);
    loop.run(1000);
    pools.get(0).clear();
    pools.get(1).clear();
    cache.find(TestTiers.hashes(0, 8), PATIENCE, found -> pools.get(0).release(found.blocks()));
    loop.run(1000);
    assertThat(pools.getFirst().cached()).isEqualTo(8);
    for (int i = 0; i < 8; i++) assertThat(sketch.count(TestTiers.hash(i))).isEqualTo(2);
  }

  @Test
  void tierCountsAsFoundWhatACallerFoundThereAndNothingElse() {
    var cache = tieredCache(Eviction.lru(), 16, 16, 16);
    send(cache, 0, 8);
    loop.run(1000);
    for (var pool : pools) assertThat(pool.stats().matched()).as("%s", pool.tier()).isZero();
    pools.getFirst().clear();
    cache.find(TestTiers.hashes(0, 8), PATIENCE, found -> pools.get(0).release(found.blocks()));
    loop.run(1000);
    assertThat(pools).extracting(pool -> pool.stats().matched()).containsExactly(0L, 8L, 0L);
  }

  /** A set of 40 that is used all the time, and a scan of blocks that nobody asks for again. */
  @Test
  void hotSetUnderS3FifoStaysOnHostWhetherOrNotADiskStandsBelow() {
    assertThat(hotSetFound(false)).isEqualTo(40);
    assertThat(hotSetFound(true)).isEqualTo(40);
  }

  private int hotSetFound(boolean disk) {
    pools.clear();
    var walk = new PipelineUsesTest();
    var cache =
        disk
            ? walk.tieredCache(Eviction.s3Fifo(), 128, 100, 4096)
            : walk.tieredCache(Eviction.s3Fifo(), 128, 100);
    for (int i = 0; i < 40; i += 8) walk.send(cache, i, 8);
    int scanned = 1000;
    int found = 0;
    for (int round = 0; round < 12; round++) {
      walk.loop.run(1000);
      walk.pools.getFirst().clear();
      found = 0;
      for (int i = 0; i < 40; i++) if (walk.pools.get(1).has(TestTiers.hash(i))) found++;
      cache.find(
          TestTiers.hashes(0, 40), PATIENCE, got -> walk.pools.getFirst().release(got.blocks()));
      walk.loop.run(1000);
      for (int i = 0; i < 40; i++, scanned += 6) {
        walk.send(cache, scanned, 6);
        walk.loop.run(1000);
      }
    }
    return found;
  }

  private TieredKvCache tieredCache(Eviction eviction, int... blocks) {
    var tiers = List.of(Tier.DEVICE, Tier.HOST, Tier.DISK);
    var lowerTiers = new ArrayList<LowerTier>();
    for (int i = 0; i < blocks.length; i++) {
      var settings = PoolSettings.of(tiers.get(i), blocks[i], 16).with(eviction);
      pools.add(new BlockPool(settings, registry, new KvEvents()));
      var store = new SlowStore(loop, Duration.ofMillis(1), 1_000);
      if (i > 0) lowerTiers.add(LowerTier.of(pools.get(i), store));
    }
    return new TieredKvCache(
        loop, registry, pools.getFirst(), lowerTiers, OnboardingLimits.DEFAULT, sketch);
  }

  private void send(TieredKvCache cache, int from, int count) {
    var blocks = new ArrayList<Block.Registered>();
    for (var empty : pools.getFirst().allocate(count).orElseThrow()) {
      blocks.add(empty.receive(TestTiers.content(from + blocks.size())));
    }
    var weak = blocks.stream().map(Block.Registered::weak).toList();
    assertThat(cache.offload(OffloadRequest.weak(weak))).isPresent();
    pools.getFirst().release(blocks);
  }
}
