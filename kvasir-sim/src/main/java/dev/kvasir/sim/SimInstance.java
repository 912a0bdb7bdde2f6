package dev.kvasir.sim;

import dev.kvasir.engine.Engine;
import dev.kvasir.engine.EngineLoad;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.KvEvents;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.Tier;
import dev.kvasir.offload.Rung;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;

/** One engine of the product with its memory, on a model and tiers that only take time. */
public final class SimInstance {
  private final int index;
  private final Engine engine;
  private final TimedModel model;
  private final KvEvents events = new KvEvents();
  private final List<BlockPool> pools = new ArrayList<>();
  private final List<TimedStore> stores = new ArrayList<>();

  SimInstance(int index, EventLoop loop, InstanceSpec spec, LatencyModel latency) {
    this.index = index;
    this.model = new TimedModel(loop, latency, () -> 0);
    this.engine = new Engine(loop, memory(loop, spec), model, spec.engine());
  }

  /** The seed's rule: without slower tiers there is nothing but a pool. */
  private KvStore memory(EventLoop loop, InstanceSpec spec) {
    var registry = new PrefixRegistry();
    var top = pool(spec, Tier.DEVICE, spec.blocks(), registry);
    if (spec.tiers().isEmpty()) return new PooledKv(top);
    var rungs = new ArrayList<Rung>();
    for (var tier : spec.tiers()) {
      var store = new TimedStore(loop, spec.blockTokens(), tier.latency(), tier.tokensPerMicro());
      stores.add(store);
      rungs.add(Rung.of(pool(spec, tier.tier(), tier.blocks(), registry), store));
    }
    return new TieredKvCache(loop, registry, top, rungs);
  }

  private BlockPool pool(InstanceSpec spec, Tier tier, int blocks, PrefixRegistry registry) {
    var settings = PoolSettings.of(tier, blocks, spec.blockTokens()).with(spec.eviction());
    var pool = new BlockPool(settings, registry, events);
    pools.add(pool);
    return pool;
  }

  public int index() {
    return index;
  }

  public Engine engine() {
    return engine;
  }

  public EngineLoad load() {
    return engine.load();
  }

  public TimedModel model() {
    return model;
  }

  public KvEvents events() {
    return events;
  }

  /** The pools from the engine's memory down. */
  public List<BlockPool> pools() {
    return pools;
  }

  /** The stores of the slower tiers, fastest first. */
  public List<TimedStore> stores() {
    return stores;
  }
}
