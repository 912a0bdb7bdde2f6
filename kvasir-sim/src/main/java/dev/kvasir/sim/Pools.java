package dev.kvasir.sim;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The pools of tiers that have one registry, from the fastest down. */
final class Pools {
  private final InstanceSpec spec;
  private final Eviction eviction;
  private final PrefixRegistry registry;
  private final KvEvents events = new KvEvents();
  private final List<BlockPool> pools = new ArrayList<>();

  Pools(EventLoop loop, InstanceSpec spec) {
    this.spec = spec;
    int blocks = spec.blocks();
    for (var tier : spec.tiers()) blocks += tier.blocks();
    var sketch = new FrequencySketch(blocks);
    this.eviction = spec.limits().on(Eviction.named(spec.eviction(), sketch), loop::nanos);
    // Counting costs a little: only where somebody asks.
    this.registry =
        spec.eviction().equals("multi-lru") ? new PrefixRegistry(sketch) : new PrefixRegistry();
  }

  BlockPool add(Tier tier, int blocks) {
    var settings = PoolSettings.of(tier, blocks, spec.blockTokens()).with(eviction);
    var pool = new BlockPool(settings, registry, events);
    pools.add(pool);
    return pool;
  }

  PrefixRegistry registry() {
    return registry;
  }

  KvEvents events() {
    return events;
  }

  List<BlockPool> all() {
    return Collections.unmodifiableList(pools);
  }
}
