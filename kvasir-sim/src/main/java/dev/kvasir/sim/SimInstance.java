package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Engine;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.clock.InstanceClock;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.result.InstanceResult;
import dev.kvasir.sim.result.InstanceResult.TierResult;
import dev.kvasir.sim.result.Timeline;
import dev.kvasir.sim.server.FrontStage;
import dev.kvasir.sim.server.ServerModel;
import dev.kvasir.sim.server.StepPipeline;
import dev.kvasir.sim.step.StepQueue;
import dev.kvasir.sim.step.TimedModel;
import dev.kvasir.sim.step.TokenTimes;
import dev.kvasir.sim.transfer.TimedStore;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** One engine of the product with its memory, on a model and tiers that only take time. */
public final class SimInstance {
  private final int index;
  private final InstanceClock clock;
  private final LatencyModel latency;
  private final Timeline timeline = new Timeline();
  private final KvStore memory;
  private final Engine engine;
  private final TimedModel model;
  private final @Nullable FrontStage front;
  private final Pools pools;
  private final List<TimedStore> stores = new ArrayList<>();
  private final @Nullable SharedTierPools below;
  private TransferModel.@Nullable Memory stepped;
  private boolean up = true;
  private int life;

  /**
   * An instance on a clock.
   *
   * @param below the tiers that it shares with others; null where it has its own
   * @param turns what computes its steps
   */
  SimInstance(
      int index,
      InstanceClock clock,
      InstanceSpec spec,
      LatencyModel latency,
      @Nullable SharedTierPools below,
      StepQueue turns) {
    this.index = index;
    this.clock = clock;
    this.latency = latency;
    var loop = clock.loop();
    this.pools = new Pools(loop, spec);
    this.below = below;
    this.memory = memory(loop, spec);
    var stepped = this.stepped;
    LongSupplier extra = stepped == null ? () -> 0 : stepped::drainPendingMicros;
    StepPipeline pipeline = null;
    if (latency instanceof ServerModel server) {
      var stage = new FrontStage(loop, server);
      this.front = stage;
      pipeline = new StepPipeline(loop, server, stage);
    } else {
      this.front = null;
    }
    this.model = new TimedModel(loop, latency, extra, turns, pipeline);
    this.engine = new Engine(loop, memory, model, settings(spec));
  }

  private static EngineSettings settings(InstanceSpec spec) {
    return spec.tiers().isEmpty() ? spec.engine() : spec.transfers().engine(spec.engine());
  }

  /** Without slower tiers there is nothing but a pool. */
  private KvStore memory(EventLoop loop, InstanceSpec spec) {
    var top = pools.add(Tier.DEVICE, spec.blocks());
    if (spec.tiers().isEmpty()) return new PooledKv(top);
    var own = spec.transfers().memory(loop, top, spec.tiers());
    if (own != null) {
      stepped = own;
      return own;
    }
    var shared = below;
    if (shared != null) {
      var step = spec.tiers().getFirst().store(loop, spec.blockTokens());
      stores.add(step);
      return shared.tieredCache(pools.registry(), top, step);
    }
    var lowerTiers = new ArrayList<LowerTier>();
    for (var tier : spec.tiers()) {
      var store = tier.store(loop, spec.blockTokens());
      stores.add(store);
      lowerTiers.add(LowerTier.of(pools.add(tier.tier(), tier.blocks()), store));
    }
    return new TieredKvCache(loop, pools.registry(), top, lowerTiers);
  }

  public int index() {
    return index;
  }

  InstanceClock clock() {
    return clock;
  }

  /** Returns the model of how long things take here. */
  LatencyModel latency() {
    return latency;
  }

  /** Returns the timeline of the requests that wait and run here. */
  Timeline timeline() {
    return timeline;
  }

  public Engine engine() {
    return engine;
  }

  /** Takes a prompt in, through the server in front of the engine where there is one. */
  void enter(int promptTokens, Runnable submit) {
    if (front == null) submit.run();
    else front.enter(promptTokens, submit);
  }

  /** Takes a sequence on. */
  Sequence submit(SequenceRequest request, SequenceListener listener) {
    return engine.submit(request, model.observe(listener));
  }

  /** Does it when the token of the sequence of the step that is done now has left the server. */
  void whenSent(Sequence sequence, TokenTimes.Which token, Runnable task) {
    model.whenSent(sequence, token, task);
  }

  public Engine.Load load() {
    return engine.load();
  }

  /** Returns whether the instance takes requests at all. */
  boolean isUp() {
    return up;
  }

  /** Returns how often the instance has died; what it held in an earlier life is gone. */
  int life() {
    return life;
  }

  void die() {
    up = false;
    life++;
  }

  /** Starts again, with nothing in its own memory and in host memory; slower tiers keep theirs. */
  void comeBack() {
    up = true;
    for (var pool : pools.all()) {
      if (pool.tier() == Tier.DEVICE || pool.tier() == Tier.HOST) pool.clear();
    }
  }

  int blockTokens() {
    return memory.blockTokens();
  }

  /** Returns the events of the blocks that it can use, to be read from outside of the pools. */
  List<KvEvents> events() {
    return below == null ? List.of(pools.events()) : List.of(pools.events(), below.events());
  }

  /** Takes in blocks that another instance computed; none where there is no room for them. */
  List<Block.Registered> receive(BlockNames names, int blocks) {
    var top = pools.all().getFirst();
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

  InstanceResult result(Role role) {
    var load = engine.load();
    return new InstanceResult(
        role,
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
        load.planning(),
        InstanceResult.ALWAYS);
  }

  private List<TierResult> tiers() {
    var tiers = new ArrayList<TierResult>();
    var top = pools().getFirst();
    tiers.add(new TierResult(top.tier(), top.total(), 0, 0, top.stats().evicted(), 0, 0, 0));
    var all = new ArrayList<>(stores);
    // What many share is told by one of them.
    if (below != null && index == 0) all.addAll(below.stores());
    for (int i = 0; i < all.size(); i++) {
      var pool = pools().get(i + 1);
      var store = all.get(i);
      tiers.add(
          new TierResult(
              pool.tier(),
              pool.total(),
              store.stores(),
              store.loads(),
              below == null || index == 0 ? pool.stats().evicted() : 0,
              store.thrashed(),
              store.busyDown().toNanos() / 1000,
              store.busyUp().toNanos() / 1000));
    }
    if (stepped != null) tiers.addAll(stepped.tiers());
    return tiers;
  }

  /** The pools from the engine's memory down, those that it shares among them. */
  public List<BlockPool> pools() {
    if (below == null) return pools.all();
    var all = new ArrayList<>(pools.all());
    all.addAll(below.pools());
    return all;
  }
}
