package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.KvSpan;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.onboard.LoadWindows;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.FaultyTier;
import dev.kvasir.offload.store.RelayedStore;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * One random life of two engines' memories over tiers that both share: host, disk and, relayed, a
 * remote one. The engines' side is the {@code KvStore}, uses are counted, and stores fail.
 */
public final class CommonTiersWalk {
  private static final int BLOCK_TOKENS = 16;
  private static final int RELAY_SLOTS = 3;

  private final RandomGenerator random;

  /** The factor by which everything is larger than usual, and the number of names. */
  private final int size;

  private final int names;
  private final int queueMax;
  private final VirtualLoop loop = new VirtualLoop();
  private final FrequencySketch sketch = new FrequencySketch(256);
  private final PrefixRegistry shared = new PrefixRegistry(sketch);
  private final List<BlockPool> pools = new ArrayList<>();
  private final List<FaultyTier> stores = new ArrayList<>();
  private final OnboardingLimits limits;
  private final CommonTiers tiers;
  private final List<Engine> engines = new ArrayList<>();
  private long fetched;

  public CommonTiersWalk(RandomGenerator random) {
    this(random, 1);
  }

  /** Prompts and tiers that many times larger, on stores with queues smaller than them. */
  public CommonTiersWalk(RandomGenerator random, int size) {
    this.random = random;
    this.size = size;
    this.names = 40 * size;
    this.queueMax = 2 * RELAY_SLOTS + random.nextInt(3 * size);
    this.limits =
        new OnboardingLimits(
            Duration.ofMillis(1 + random.nextInt(10_000)), 1 + random.nextInt(8), 50);
    var host = pool(Tier.HOST, shared);
    var disk = pool(Tier.DISK, shared);
    var remote = pool(Tier.REMOTE, shared);
    var hostBytes = new BlockHash[host.total() + RELAY_SLOTS];
    var diskStore = faulty(hostBytes, new BlockHash[disk.total()]);
    var remoteStore = faulty(hostBytes, new BlockHash[remote.total()]);
    var relayed = new RelayedStore(diskStore, remoteStore, host.total(), RELAY_SLOTS);
    var lowerTiers =
        List.of(
            lower(disk, new SingleLoads(diskStore, host)),
            lower(remote, new SingleLoads(relayed, disk)));
    this.tiers = new CommonTiers(loop, shared, host, lowerTiers, sketch);
    for (int i = 0; i < 2; i++) engines.add(new Engine(host, hostBytes));
  }

  /** An engine's own memory, and what it holds there. */
  private final class Engine {
    private final BlockPool top;
    private final BlockHash[] bytes;
    private final TieredKvCache kv;
    private final List<KvSpan> spans = new ArrayList<>();

    Engine(BlockPool host, BlockHash[] hostBytes) {
      var own = new PrefixRegistry(sketch);
      this.top = pool(Tier.DEVICE, own);
      this.bytes = new BlockHash[top.total()];
      var step = new SingleLoads(faulty(bytes, hostBytes), top);
      this.kv = tiers.tieredCache(own, top, lower(host, step), limits);
    }
  }

  /** Sees that no block is loaded twice at once, and that no more is reserved than may be. */
  private final class SingleLoads implements TierStore {
    private final TierStore store;
    private final BlockPool above;
    private final HashSet<BlockHash> loading = new HashSet<>();

    SingleLoads(TierStore store, BlockPool above) {
      this.store = store;
      this.above = above;
    }

    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      store.store(copies, done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      for (var copy : copies) {
        assertThat(loading.add(copy.block().hash())).as("%s loaded once", copy).isTrue();
      }
      assertThat(loading.size()).isLessThanOrEqualTo(limits.reservedMax(above.total()));
      store.load(
          copies,
          outcomes -> {
            for (var copy : copies) loading.remove(copy.block().hash());
            done.accept(outcomes);
          });
    }
  }

  private BlockPool pool(Tier tier, PrefixRegistry registry) {
    var eviction =
        switch (random.nextInt(4)) {
          case 0 -> Eviction.s3Fifo();
          case 1 -> Eviction.multiLru(sketch);
          case 2 -> Eviction.lineage();
          default -> Eviction.lru();
        };
    var settings =
        PoolSettings.of(tier, size * (6 + random.nextInt(18)), BLOCK_TOKENS).with(eviction);
    var pool = new BlockPool(settings, registry, new KvEvents());
    pools.add(pool);
    return pool;
  }

  private FaultyTier faulty(@Nullable BlockHash[] above, @Nullable BlockHash[] here) {
    // A relay reads from a disk beside the loads.
    var store = new FaultyTier(loop, random, above, here).ofQueue(queueMax);
    stores.add(store);
    return store;
  }

  private LowerTier lower(BlockPool pool, TierStore store) {
    var policy =
        random.nextBoolean()
            ? OffloadPolicy.presence()
            : OffloadPolicy.allOf(List.of(OffloadPolicy.presence(), OffloadPolicy.frequency(1)));
    return LowerTier.of(pool, store).with(policy).with(LoadWindows.of(queueMax));
  }

  /** Runs so many operations; returns how many blocks came up from the tiers below. */
  public long run(int operations) {
    for (int i = 0; i < operations; i++) {
      var engine = engines.get(random.nextInt(engines.size()));
      switch (random.nextInt(8)) {
        case 0, 1 -> compute(engine);
        case 2, 3 -> fetch(engine);
        case 4 -> engines.forEach(this::release);
        case 5 -> stand();
        default -> steps(1 + random.nextInt(12));
      }
      check();
    }
    end();
    return fetched;
  }

  /** A prompt: what is known is held, the rest is computed. */
  private void compute(Engine engine) {
    int first = random.nextInt(names);
    int blocks = 1 + random.nextInt(5 * size);
    int known = engine.kv.match(names(first), blocks).blocks();
    var span = Objects.requireNonNull(engine.kv.open(names(first), known));
    engine.spans.add(span);
    if (engine.kv.available() < blocks - known) return;
    span.reserve(blocks * BLOCK_TOKENS);
    for (int i = known; i < blocks; i++) engine.bytes[span.slot(i)] = TestTiers.hash(first + i);
    span.fill(blocks * BLOCK_TOKENS);
    for (int i = 0; i < blocks; i++) {
      assertThat(engine.bytes[span.slot(i)]).isEqualTo(TestTiers.hash(first + i));
    }
  }

  private void fetch(Engine engine) {
    int first = random.nextInt(names);
    engine.kv.fetch(
        names(first),
        1 + random.nextInt(6 * size),
        span -> {
          for (int i = 0; i < span.blocks(); i++) {
            assertThat(engine.bytes[span.slot(i)]).isEqualTo(TestTiers.hash(first + i));
          }
          fetched += span.cached().total() - span.cached().on(Tier.DEVICE);
          engine.spans.add(span);
        });
  }

  private void release(Engine engine) {
    while (!engine.spans.isEmpty() && random.nextInt(8) > 0) {
      engine.spans.remove(random.nextInt(engine.spans.size())).release();
    }
  }

  private void stand() {
    var store = stores.get(random.nextInt(stores.size()));
    if (random.nextInt(12) == 0) store.stand();
    else store.goOn();
  }

  private void steps(int count) {
    for (int i = 0; i < count && step(); i++) check();
  }

  /** Nobody asks for blocks in a task of the loop, so none of the tiers may count one as found. */
  private boolean step() {
    long before = found();
    boolean stepped = loop.step();
    assertThat(found()).as("blocks found while nobody asks").isEqualTo(before);
    return stepped;
  }

  private long found() {
    return pools.stream().mapToLong(pool -> pool.stats().matched()).sum();
  }

  private void check() {
    for (var pool : pools) {
      assertThat(pool.free() + pool.countHeld() + pool.cached()).isEqualTo(pool.total());
    }
    for (var engine : engines) {
      var onboardings = engine.kv.onboardings();
      assertThat(onboardings.overdue()).isBetween(0, onboardings.onboarding());
    }
  }

  private void end() {
    stores.forEach(FaultyTier::heal);
    while (step()) check();
    for (var engine : engines) {
      engine.spans.forEach(KvSpan::release);
      var onboardings = engine.kv.onboardings();
      assertThat(onboardings.searches() + onboardings.onboarding() + onboardings.overdue())
          .isZero();
      for (var edge : engine.kv.edges()) assertThat(edge.load().isEmpty()).isTrue();
    }
    assertThat(tiers.settlement().pending()).isZero();
    for (var pool : pools) assertThat(pool.countHeld()).as("held on %s", pool.tier()).isZero();
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
}
