package dev.kvasir.live.engine;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.live.Owned;
import dev.kvasir.live.model.ModelShape;
import dev.kvasir.live.store.BlockSeals;
import dev.kvasir.live.store.DiskStore;
import dev.kvasir.live.store.HostMemory;
import dev.kvasir.live.store.HostStore;
import dev.kvasir.live.store.SealSettings;
import dev.kvasir.live.store.StoreTally;
import dev.kvasir.live.store.object.ObjectBlocks;
import dev.kvasir.live.store.remote.RedisBlocks;
import dev.kvasir.offload.CommonTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.ClimbLimits;
import dev.kvasir.offload.onboard.Rung;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.store.RelayedStore;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * The tiers that several engines share below their own memory: of this process, and those on
 * servers that other processes use too.
 */
public final class SharedTiers implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(SharedTiers.class.getName());
  private static final int COPY_THREADS = 2;
  private static final int COPIES_MAX = 4_096;
  private static final int USES_BLOCKS_MIN = 1 << 14;
  private static final int USES_BLOCKS_MAX = 1 << 26;
  private static final ClimbLimits LIMITS = ClimbLimits.DEFAULT;

  private final EventLoop loop;
  private final LadderSettings ladder;
  private final @Nullable FrequencySketch uses;
  private final HostMemory memory;
  private final long layout;
  private final PrefixRegistry registry;
  private final KvEvents events = new KvEvents();
  private final Owned owned = new Owned();
  private final List<BlockPool> pools = new ArrayList<>();
  private final List<Rung> rungs = new ArrayList<>();
  private final List<SharedLook.Place> places = new ArrayList<>();
  private final List<String> unavailable = new ArrayList<>();
  private final CommonTiers tiers;
  private final SharedLook look;
  private @Nullable DiskStore disk;

  /** The store of the tier that was added last; none while that is host memory. */
  private @Nullable TierStore above;

  /** The first slot of host memory that no tier and no edge has. */
  private int unused;

  private SharedTiers(EventLoop loop, LoadedModel model, EngineGroupSettings settings) {
    this.loop = loop;
    this.ladder = settings.ladder();
    this.layout = layout(model);
    var below = ladder.below();
    boolean counted =
        ladder.host().edge().countsUses()
            || below.stream().anyMatch(tier -> ladder.edge(tier).countsUses());
    this.uses = counted ? new FrequencySketch(usesBlocks(settings)) : null;
    this.registry = registry();
    int bytes = model.cpu().shape().kvBytesPerBlock();
    this.unused = ladder.host().blocks();
    this.memory = owned.add(new HostMemory("host memory", unused + between(below), bytes));
    try {
      pool(Tier.HOST, ladder.host().blocks());
      for (var tier : below) add(tier, settings);
      this.tiers = new CommonTiers(loop, registry, host(), rungs, uses);
      this.look = new SharedLook(registry, places);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Takes the memory and opens the folder, which may take a while. */
  static SharedTiers open(EventLoop loop, LoadedModel model, EngineGroupSettings settings) {
    return new SharedTiers(loop, model, settings);
  }

  /** How many blocks are on their way between tiers that are no memory. */
  private int between(List<Tier> below) {
    return below.stream().skip(1).mapToInt(tier -> ladder.edge(tier).batchBlocksMax()).sum();
  }

  private void add(Tier tier, EngineGroupSettings settings) {
    switch (tier) {
      case DEVICE, HOST -> throw new IllegalArgumentException(tier + " is not below host memory");
      case DISK -> addDisk(settings);
      case REMOTE -> addRemote(Objects.requireNonNull(ladder.remote()));
      case OBJECT -> addObject(Objects.requireNonNull(ladder.object()));
    }
  }

  /** How many blocks the tiers know together: a sketch of fewer would mix them up. */
  static int usesBlocks(EngineGroupSettings settings) {
    var ladder = settings.ladder();
    var remote = ladder.remote();
    var object = ladder.object();
    long blocks = (long) settings.engines() * settings.deviceBlocks() + ladder.host().blocks();
    blocks += ladder.disk().blocks();
    blocks += remote == null ? 0 : remote.blocks();
    blocks += object == null ? 0 : object.blocks();
    return Math.clamp(blocks, USES_BLOCKS_MIN, USES_BLOCKS_MAX);
  }

  /** A folder that cannot be opened costs the tier, and not the service: it is only a cache. */
  private void addDisk(EngineGroupSettings settings) {
    var tier = ladder.disk();
    var folder = Objects.requireNonNull(settings.diskFolder(), "checked by the settings");
    var blocks = tier.settings(folder, memory.blockBytes(), layout);
    DiskStore store;
    try {
      store = owned.add(DiskStore.open(loop, memory, blocks));
    } catch (IOException | RuntimeException e) {
      LOG.log(ERROR, "there is no disk tier until the next start: {0}", e.getMessage());
      unavailable.add(Tier.DISK.name().toLowerCase(Locale.ROOT));
      return;
    }
    var pool = pool(Tier.DISK, tier.blocks());
    store.restore(pool);
    addRung(pool, tier.guard().guard(loop, store), tier.edge());
    disk = store;
  }

  private void addRemote(RemoteTier tier) {
    var store = owned.add(RedisBlocks.open(loop, memory, tier.server(), seals(tier.seal())));
    var pool = pool(Tier.REMOTE, tier.blocks());
    var guarded = tier.guard().guard(loop, store);
    addRung(pool, guarded, tier.edge());
    places.add(new SharedLook.Place(pool, store, guarded, tier.lookTime()));
  }

  private void addObject(ObjectTier tier) {
    var store = owned.add(ObjectBlocks.open(loop, memory, tier.server(), seals(tier.seal())));
    var pool = pool(Tier.OBJECT, tier.blocks());
    var guarded = tier.guard().guard(loop, store);
    addRung(pool, guarded, tier.edge());
    places.add(new SharedLook.Place(pool, store, guarded, tier.lookTime()));
  }

  /** Every store copies to and from host memory, so what is not right below it needs a relay. */
  private void addRung(BlockPool pool, TierStore store, EdgeSettings edge) {
    if (above == null) {
      rungs.add(edge.rung(pool, store));
    } else {
      int slots = edge.batchBlocksMax();
      rungs.add(edge.rung(pool, new RelayedStore(above, store, unused, slots)));
      unused += slots;
    }
    above = store;
  }

  private BlockSeals seals(SealSettings settings) {
    return BlockSeals.of(memory.blockBytes(), layout, settings);
  }

  private BlockPool pool(Tier tier, int blocks) {
    var settings = PoolSettings.of(tier, blocks, ModelShape.BLOCK_TOKENS);
    var pool = new BlockPool(settings, registry, events);
    pools.add(pool);
    return pool;
  }

  /** A registry that counts uses as the others here do. */
  PrefixRegistry registry() {
    return uses == null ? new PrefixRegistry() : new PrefixRegistry(uses);
  }

  /** Other weights or another layout make another number, nearly always; names make sure. */
  private static long layout(LoadedModel model) {
    var sum = new CRC32C();
    sum.update(model.cpu().fingerprint().getBytes(StandardCharsets.UTF_8));
    return sum.getValue();
  }

  /** The way between an engine's memory and the host tier. */
  HostStore step(HostMemory engine) {
    return new HostStore(loop, engine, memory, COPY_THREADS, COPIES_MAX);
  }

  TieredKvCache ladder(PrefixRegistry own, BlockPool top, HostStore step) {
    return tiers.ladder(own, top, ladder.host().edge().rung(host(), step), LIMITS);
  }

  /** Runs when nothing is on its way down. */
  void whenSettled(Runnable then) {
    tiers.settlement().whenSettled(then);
  }

  /** The tiers on servers of others. */
  List<SharedLook.Place> places() {
    return List.copyOf(places);
  }

  /** Believes nothing to be on disk. */
  void clearDisk() {
    for (var pool : pools) if (pool.tier() == Tier.DISK) pool.clear();
  }

  /** Asks other processes' servers for what is not known here. */
  SharedLook look() {
    return look;
  }

  /** What happens to the blocks of these tiers. */
  public KvEvents events() {
    return events;
  }

  /** The pipelines between these tiers, from the top down. */
  public List<OffloadPipeline> edges() {
    return tiers.edges();
  }

  /** The blocks of these tiers, from the top down. */
  public List<BlockPool> pools() {
    return List.copyOf(pools);
  }

  public BlockPool host() {
    return pools.getFirst();
  }

  /** What the stores of the tiers below host memory have done, from the top down. */
  public List<StoreTally> stores() {
    var tallies = new ArrayList<StoreTally>();
    if (disk != null) tallies.add(StoreTally.of(Tier.DISK, disk.stats()));
    for (var place : places) {
      tallies.add(StoreTally.of(place.pool().tier(), place.store().stats()));
    }
    return tallies;
  }

  /** The tiers that are configured and could not be opened. */
  public List<String> unavailable() {
    return List.copyOf(unavailable);
  }

  /** The disk tier; null where there is none. */
  public @Nullable DiskStore disk() {
    return disk;
  }

  @Override
  public void close() {
    owned.close();
  }
}
