package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.engine.BatchQuirk;
import dev.kvasir.engine.Engine;
import dev.kvasir.engine.EngineLoad;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockNames;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.Eviction;
import dev.kvasir.kv.FrequencySketch;
import dev.kvasir.kv.KvEvent;
import dev.kvasir.kv.KvEvents;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.KvSubscription;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.Tier;
import dev.kvasir.offload.Rung;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.report.InstanceResult;
import dev.kvasir.sim.report.TierResult;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** One engine of the product with its memory, on a model and tiers that only take time. */
public final class SimInstance {
  private final int index;
  private final KvStore memory;
  private final Engine engine;
  private final TimedModel model;
  private final KvEvents events = new KvEvents();
  private final List<BlockPool> pools = new ArrayList<>();
  private final List<TimedStore> stores = new ArrayList<>();
  private @Nullable SteppedTiers stepped;

  SimInstance(int index, EventLoop loop, InstanceSpec spec, LatencyModel latency) {
    this.index = index;
    this.memory = memory(loop, spec);
    var stepped = this.stepped;
    this.model =
        new TimedModel(loop, latency, stepped == null ? () -> 0 : stepped::takePendingMicros);
    this.engine = new Engine(loop, memory, model, settings(spec));
  }

  /** Reloads within a step may evict what the next one in line was promised. */
  private static EngineSettings settings(InstanceSpec spec) {
    return spec.transfers() instanceof TransferModel.Step && !spec.tiers().isEmpty()
        ? spec.engine().with(BatchQuirk.ADMITS_ONE_BY_ONE)
        : spec.engine();
  }

  /** The seed's rule: without slower tiers there is nothing but a pool. */
  private KvStore memory(EventLoop loop, InstanceSpec spec) {
    int blocks = spec.blocks();
    for (var tier : spec.tiers()) blocks += tier.blocks();
    var sketch = new FrequencySketch(blocks);
    var eviction = Eviction.named(spec.eviction(), sketch);
    // Counting costs a little: only where somebody asks.
    var registry =
        spec.eviction().equals("multi-lru") ? new PrefixRegistry(sketch) : new PrefixRegistry();
    var top = pool(spec, Tier.DEVICE, spec.blocks(), eviction, registry);
    if (spec.tiers().isEmpty()) return new PooledKv(top);
    if (spec.transfers() instanceof TransferModel.Step step) {
      var both = new SteppedTiers(loop, top, spec.tiers().getFirst(), step.threshold());
      stepped = both;
      return both;
    }
    var rungs = new ArrayList<Rung>();
    for (var tier : spec.tiers()) {
      var store = new TimedStore(loop, spec.blockTokens(), tier.latency(), tier.tokensPerMicro());
      stores.add(store);
      rungs.add(Rung.of(pool(spec, tier.tier(), tier.blocks(), eviction, registry), store));
    }
    return new TieredKvCache(loop, registry, top, rungs);
  }

  private BlockPool pool(
      InstanceSpec spec, Tier tier, int blocks, Eviction eviction, PrefixRegistry registry) {
    var settings = PoolSettings.of(tier, blocks, spec.blockTokens()).with(eviction);
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

  int blockTokens() {
    return pools.getFirst().blockTokens();
  }

  /** Hands on what happens to the blocks, from outside of the pools. */
  void listen(int eventsMax, EventLoop loop, Consumer<KvEvent> listener) {
    var subscriptions = new ArrayList<KvSubscription>();
    subscriptions.add(
        events.subscribe(
            eventsMax,
            () ->
                loop.execute(
                    () -> {
                      var subscription = subscriptions.getFirst();
                      for (var event = subscription.poll();
                          event != null;
                          event = subscription.poll()) {
                        listener.accept(event);
                      }
                    })));
  }

  /** Takes in blocks that another instance computed; none where there is no room for them. */
  List<Block.Registered> receive(BlockNames names, int blocks) {
    var top = pools.getFirst();
    var received = new ArrayList<Block.Registered>();
    for (int i = 0; i < blocks; i++) {
      var here = top.hold(names.name(i));
      if (here.isPresent()) {
        received.add(here.get());
        continue;
      }
      var room = top.allocate(1);
      if (room.isEmpty()) break;
      received.add(room.get().getFirst().receive(names.block(i)));
    }
    return received;
  }

  InstanceResult result() {
    var load = engine.load();
    return new InstanceResult(
        load.waiting(),
        load.running(),
        load.preemptions(),
        load.steps(),
        model.busyMicros(),
        engine.inputTokens(),
        memory.hits(),
        memory.misses(),
        0,
        model.gaps(),
        tiers(),
        load.planning());
  }

  private List<TierResult> tiers() {
    var tiers = new ArrayList<TierResult>();
    for (int i = 0; i < pools.size(); i++) {
      var pool = pools.get(i);
      long evicted = pool.stats().evicted();
      if (i == 0) {
        tiers.add(new TierResult(pool.tier(), pool.total(), 0, 0, evicted, 0, 0, 0));
        continue;
      }
      var store = stores.get(i - 1);
      tiers.add(
          new TierResult(
              pool.tier(),
              pool.total(),
              store.stores(),
              store.loads(),
              evicted,
              store.thrashed(),
              store.busyDown().toNanos() / 1000,
              store.busyUp().toNanos() / 1000));
    }
    var host = stepped;
    if (host != null) {
      tiers.add(
          new TierResult(
              Tier.HOST,
              host.blocks(),
              host.stored(),
              host.loaded(),
              host.evicted(),
              host.thrashed(),
              0,
              0));
    }
    return tiers;
  }

  /** The pools from the engine's memory down. */
  public List<BlockPool> pools() {
    return pools;
  }
}
