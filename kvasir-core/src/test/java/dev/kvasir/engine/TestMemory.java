package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.ResettableKv;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.store.SlowStore;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.List;

/** KV memory of a test: a pool, and perhaps a tier below it. */
record TestMemory(BlockPool pool, ResettableKv kv, KvEvents events) {
  static final int BLOCK_TOKENS = 4;

  static TestMemory of(int blocks) {
    var events = new KvEvents();
    var pool = pool(Tier.DEVICE, blocks, new PrefixRegistry(), events);
    return new TestMemory(pool, new PooledKv(pool), events);
  }

  /** A small memory above a host tier that takes its time. */
  static TestMemory tiered(EventLoop loop, int blocks, int hostBlocks) {
    var store = new SlowStore(loop, Duration.ofNanos(3_000), BLOCK_TOKENS * 500L);
    return tiered(loop, blocks, hostBlocks, store);
  }

  /** The same above a host tier of that store. */
  static TestMemory tiered(EventLoop loop, int blocks, int hostBlocks, TierStore store) {
    var registry = new PrefixRegistry();
    var events = new KvEvents();
    var top = pool(Tier.DEVICE, blocks, registry, events);
    var lower = LowerTier.of(pool(Tier.HOST, hostBlocks, registry, events), store);
    return new TestMemory(top, new TieredKvCache(loop, registry, top, List.of(lower)), events);
  }

  private static BlockPool pool(Tier tier, int blocks, PrefixRegistry registry, KvEvents events) {
    var settings = PoolSettings.of(tier, blocks, BLOCK_TOKENS).with(Eviction.lru());
    return new BlockPool(settings, registry, events);
  }

  void check() {
    assertThat(pool.free() + pool.countHeld() + pool.cached()).isEqualTo(pool.total());
    assertThat(pool.available()).isBetween(0, pool.total());
  }
}
