package dev.kvasir.tiers;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.net.OwnedResources;
import dev.kvasir.offload.CommonTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LoadWindows;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.offload.store.RelayedStore;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.host.BlockMemory;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.HostStore;
import dev.kvasir.tiers.host.LowerStore;
import dev.kvasir.tiers.shared.SharedStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The tiers that several engines share below their own memory: of this process, and those on
 * servers that other processes use too.
 */
public final class SharedTiers implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(SharedTiers.class.getName());
  private static final int COPY_THREADS_MIN = 2;

  /** An engine computes on the other processors meanwhile. */
  private static final int COPY_THREADS_MAX = 8;

  private static final int COPIES_MAX = 16_384;

  /** Memory is quick: windows are large, so that few of them are made. */
  private static final LoadWindows STEP = new LoadWindows(COPIES_MAX / 2, COPIES_MAX / 16);

  private static final int USES_BLOCKS_MIN = 1 << 14;
  private static final int USES_BLOCKS_MAX = 1 << 26;
  private static final OnboardingLimits LIMITS = OnboardingLimits.DEFAULT;

  private final EventLoop loop;
  private final TieredCacheSettings tieredCache;
  private final @Nullable FrequencySketch uses;
  private final HostMemory memory;
  private final Blocks blocks;
  private final PrefixRegistry registry;
  private final KvEvents events = new KvEvents();
  private final OwnedResources owned = new OwnedResources();
  private final List<BlockPool> pools = new ArrayList<>();
  private final List<LowerTier> lowerTiers = new ArrayList<>();
  private final Map<Tier, LowerStore> stores = new LinkedHashMap<>();
  private final List<SharedTierLookup.Place> places = new ArrayList<>();
  private final List<String> unavailable = new ArrayList<>();
  private final LearnedTables tables;
  private final CommonTiers tiers;
  private final SharedTierLookup look;

  /** The store of the tier that was added last; none while that is host memory. */
  private @Nullable TierStore above;

  /** The first slot of host memory that no tier and no edge has. */
  private int unused;

  /**
   * The blocks that these tiers hold.
   *
   * @param bytes how many a block has
   * @param tokens how many a block stands for
   * @param layout another number for other weights or another layout, nearly always; names make
   *     sure
   * @param above how many blocks lie above these tiers
   * @param eviction which block goes first, by its name
   * @param limits what holds besides
   * @param names what blocks are called on servers of others
   */
  public record Blocks(
      int bytes,
      int tokens,
      long layout,
      long above,
      String eviction,
      EvictionLimits limits,
      ServerNames names) {}

  /** Names that blocks have on servers of others. */
  public enum ServerNames {
    /** Hash, block before and position: who knows the tokens knows these, too. */
    WITH_PLACE,
    /** The hash alone, for those who have nothing else. */
    HASH
  }

  /**
   * Takes the memory and opens the folder, which may take a while.
   *
   * @param diskFolder where the blocks on disk lie, if there are any
   */
  public SharedTiers(
      EventLoop loop, TieredCacheSettings tieredCache, Blocks blocks, @Nullable Path diskFolder) {
    this.loop = loop;
    this.tieredCache = tieredCache;
    this.blocks = blocks;
    var below = tieredCache.below();
    boolean counted =
        tieredCache.host().edge().countsUses()
            || blocks.eviction().equals(Eviction.COUNTS_USES)
            || below.stream().anyMatch(tier -> tier.edge().countsUses());
    this.uses = counted ? new FrequencySketch(usesBlocks(tieredCache, blocks.above())) : null;
    this.registry = registry();
    this.tables = LearnedTables.siblingOf(diskFolder);
    this.unused = tieredCache.host().blocks();
    int slots = unused + between(below);
    this.memory = owned.add(new HostMemory("host memory", slots, blocks.bytes()));
    try {
      pool(Tier.HOST, tieredCache.host().blocks());
      var opening = new TierConfig.Opening(loop, memory, blocks.layout(), diskFolder);
      for (var tier : below) add(tier, opening);
      this.tiers = new CommonTiers(loop, registry, host(), lowerTiers, uses);
      this.look = new SharedTierLookup(registry, places);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Returns the number of blocks that may be on their way between tiers that are no memory. */
  private static int between(List<TierConfig.Below> below) {
    return below.stream().skip(1).mapToInt(tier -> tier.edge().batchBlocksMax()).sum();
  }

  /** A tier that cannot be opened costs the tier, and not the service: it is only a cache. */
  private void add(TierConfig.Below tier, TierConfig.Opening opening) {
    LowerStore store;
    try {
      store = owned.add(tier.open(opening));
    } catch (IOException e) {
      var name = tier.tier().word();
      LOG.log(ERROR, "there is no {0} tier until the next start: {1}", name, e.getMessage());
      unavailable.add(name);
      return;
    }
    var pool = pool(tier.tier(), tier.blocks());
    store.restore(pool);
    boolean byHash = blocks.names() == ServerNames.HASH && tier instanceof TierConfig.Shared;
    var guarded = tier.guard().guard(loop, byHash ? new HashNamedStore(store) : store);
    addLower(pool, guarded, tier.edge(), LoadWindows.of(store.queueMax()));
    stores.put(tier.tier(), store);
    if (store instanceof SharedStore server && tier instanceof TierConfig.Shared shared) {
      places.add(new SharedTierLookup.Place(pool, server, guarded, shared.lookTime()));
    }
  }

  /**
   * Returns the number of blocks that the tiers know together: a sketch of fewer would mix them up.
   */
  public static int usesBlocks(TieredCacheSettings tieredCache, long above) {
    long blocks = above + tieredCache.host().blocks();
    for (var tier : tieredCache.lower()) blocks += tier.blocks();
    return Math.clamp(blocks, USES_BLOCKS_MIN, USES_BLOCKS_MAX);
  }

  /** Every store copies to and from host memory, so what is not right below it needs a relay. */
  private void addLower(BlockPool pool, TierStore store, EdgeSettings edge, LoadWindows windows) {
    if (above == null) {
      lowerTiers.add(edge.lower(pool, store, windows));
    } else {
      int slots = edge.batchBlocksMax();
      lowerTiers.add(edge.lower(pool, new RelayedStore(above, store, unused, slots), windows));
      unused += slots;
    }
    above = store;
  }

  private BlockPool pool(Tier tier, int count) {
    var settings = PoolSettings.of(tier, count, blocks.tokens()).with(order());
    var pool = new BlockPool(settings, registry, events);
    pools.add(pool);
    tables.add(tier.word(), pool);
    return pool;
  }

  /**
   * Returns the rule for which block goes first on these tiers and on those of engines above them.
   */
  public Eviction order() {
    var sketch = uses == null ? new FrequencySketch(USES_BLOCKS_MIN) : uses;
    return blocks.limits().on(Eviction.named(blocks.eviction(), sketch), loop::nanos);
  }

  /**
   * Returns what eviction has learnt, in files beside the disk tier; whoever runs the loop keeps
   * them.
   */
  public LearnedTables tables() {
    return tables;
  }

  /** A registry that counts uses as the others here do. */
  public PrefixRegistry registry() {
    return uses == null ? new PrefixRegistry() : new PrefixRegistry(uses);
  }

  /** The way between an engine's memory and the host tier; whoever asks closes it. */
  public HostStore step(BlockMemory engine) {
    int half = Runtime.getRuntime().availableProcessors() / 2;
    return step(engine, Math.clamp(half, COPY_THREADS_MIN, COPY_THREADS_MAX));
  }

  /** The same with that many threads. */
  public HostStore step(BlockMemory engine, int threads) {
    return new HostStore(loop, engine, memory, threads, COPIES_MAX);
  }

  public TieredKvCache tieredCache(PrefixRegistry own, BlockPool top, TierStore step) {
    var lower = tieredCache.host().edge().lower(host(), step, STEP);
    return tiers.tieredCache(own, top, lower, LIMITS);
  }

  /**
   * A tiered cache whose top is the host tier, for those whose engine places its blocks by itself.
   */
  public TieredKvCache tieredCache() {
    return tiers.tieredCache(LIMITS);
  }

  /** Runs when nothing is on its way down. */
  public void whenSettled(Runnable then) {
    tiers.settlement().whenSettled(then);
  }

  /** The tiers on servers of others. */
  public List<SharedTierLookup.Place> places() {
    return List.copyOf(places);
  }

  /** Believes nothing to be on disk. */
  public void clearDisk() {
    for (var pool : pools) if (pool.tier() == Tier.DISK) pool.clear();
  }

  /** Asks other processes' servers for what is not known here. */
  public SharedTierLookup look() {
    return look;
  }

  /** The memory of the host tier, by the slots of its pool. */
  public HostMemory memory() {
    return memory;
  }

  /** Knows what lies on these tiers. */
  public PrefixRegistry known() {
    return registry;
  }

  /** Returns the events of the blocks of these tiers. */
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

  /** Returns what the stores of the tiers below host memory have done, from the top down. */
  public List<StoreTally> stores() {
    var tallies = new ArrayList<StoreTally>();
    stores.forEach((tier, store) -> tallies.add(store.tally(tier)));
    return tallies;
  }

  /** The tiers that are configured and could not be opened. */
  public List<String> unavailable() {
    return List.copyOf(unavailable);
  }

  /** The disk tier; null where there is none. */
  public @Nullable DiskStore disk() {
    return stores.get(Tier.DISK) instanceof DiskStore disk ? disk : null;
  }

  @Override
  public void close() {
    owned.close();
  }
}
