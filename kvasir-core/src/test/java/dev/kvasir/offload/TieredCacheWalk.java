package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.onboard.LoadWindows;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.Precondition;
import dev.kvasir.offload.pipeline.SourceBlock;
import dev.kvasir.offload.pipeline.TransferHandle;
import dev.kvasir.offload.store.FaultyTier;
import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * One random life of a tiered cache of three tiers, with every fault, checked after every event.
 */
public final class TieredCacheWalk {
  private static final Duration SWEEP = Duration.ofMillis(10);

  private final RandomGenerator random;

  /** The factor by which everything is larger than usual, and the number of names. */
  private final int size;

  private final int names;
  private final VirtualLoop loop = new VirtualLoop();
  private final PrefixRegistry registry = new PrefixRegistry();
  private final List<BlockPool> pools = new ArrayList<>();
  private final List<@Nullable BlockHash[]> bytes = new ArrayList<>();
  private final List<FaultyTier> stores = new ArrayList<>();
  private final TieredKvCache cache;
  private final List<Block.Registered> held = new ArrayList<>();
  private final List<Precondition> preconditions = new ArrayList<>();
  private final List<TransferHandle> open = new ArrayList<>();
  private final List<Onboarding> searches = new ArrayList<>();
  private final List<Cancelled> cancelled = new ArrayList<>();
  private long cancellations;

  /** A cancellation that must be confirmed in time. */
  private record Cancelled(TransferHandle handle, long confirmedNanos) {}

  public TieredCacheWalk(RandomGenerator random) {
    this(random, 1);
  }

  /**
   * A life of prompts and tiers that many times larger, on stores with queues smaller than them.
   */
  public TieredCacheWalk(RandomGenerator random, int size) {
    this.random = random;
    this.size = size;
    this.names = 60 * size;
    for (var tier : List.of(Tier.DEVICE, Tier.HOST, Tier.DISK)) {
      int blocks = size * (4 + random.nextInt(20));
      var eviction = random.nextBoolean() ? Eviction.lru() : Eviction.lineage();
      pools.add(
          new BlockPool(
              PoolSettings.of(tier, blocks, 16).with(eviction), registry, new KvEvents()));
      bytes.add(new BlockHash[blocks]);
    }
    var lowerTiers = new ArrayList<LowerTier>();
    for (int i = 1; i < pools.size(); i++) {
      int queueMax = 2 + random.nextInt(4 * size);
      var store = new FaultyTier(loop, random, bytes.get(i - 1), bytes.get(i)).ofQueue(queueMax);
      stores.add(store);
      var guarded = new GuardedStore(loop, store, 5, Duration.ofSeconds(2), Duration.ofSeconds(20));
      lowerTiers.add(
          LowerTier.of(pools.get(i), random.nextBoolean() ? guarded : store)
              .with(settings())
              .with(LoadWindows.of(queueMax))
              .with(slowly(random.nextInt(4) == 0)));
    }
    var limits =
        new OnboardingLimits(
            Duration.ofMillis(1 + random.nextInt(10_000)),
            1 + random.nextInt(20),
            20 + random.nextInt(81));
    this.cache = new TieredKvCache(loop, registry, pools.getFirst(), lowerTiers, limits, null);
  }

  private PipelineSettings settings() {
    int blocksMax = 1 + random.nextInt(12);
    return new PipelineSettings(
        new PipelineSettings.Batching(1 + random.nextInt(blocksMax), blocksMax, SWEEP),
        Duration.ofMillis(100),
        SWEEP,
        1 + random.nextInt(3),
        new PipelineSettings.Limits(
            64, Duration.ofSeconds(20), Duration.ofSeconds(10), Duration.ofMillis(5)));
  }

  /** A policy that answers at once, or takes its time and sometimes forgets. */
  private OffloadPolicy slowly(boolean slow) {
    if (!slow) return OffloadPolicy.presence();
    var presence = OffloadPolicy.presence();
    return (candidate, answer) -> {
      if (random.nextInt(10) == 0) return;
      loop.after(Duration.ofMillis(random.nextInt(150)), () -> presence.judge(candidate, answer));
    };
  }

  /** Cancels out of all proportion, at every stage, and says how often. */
  public long storm(int operations) {
    for (int i = 0; i < operations; i++) {
      if (held.size() < 6) compute();
      for (int tries = 0;
          tries < 3 && open.stream().noneMatch(TieredCacheWalk::isWanted);
          tries++) {
        offload();
      }
      if (random.nextInt(4) == 0) operate(random.nextInt(12));
      cancelAnother();
      check();
    }
    end();
    return cancellations;
  }

  /** Returns whether the transfer goes on and nobody has cancelled it. */
  private static boolean isWanted(TransferHandle handle) {
    return !handle.status().isFinal() && !handle.isCancelRequested();
  }

  private void cancelAnother() {
    for (var handle : List.copyOf(open)) {
      if (!isWanted(handle)) continue;
      cancel(handle);
      return;
    }
  }

  public void run(int operations) {
    for (int i = 0; i < operations; i++) {
      operate(random.nextInt(12));
      check();
    }
    end();
  }

  private void operate(int operation) {
    switch (operation) {
      case 0, 1 -> compute();
      case 2, 3 -> offload();
      case 4 -> search();
      case 5 -> release();
      case 6 -> settlePrecondition();
      case 7 -> rare();
      case 8 -> loop.runFor(Duration.ofNanos(random.nextInt(5_000_000)));
      case 9 -> cancel();
      default -> steps(random.nextInt(6));
    }
  }

  private void steps(int count) {
    for (int i = 0; i < count && loop.step(); i++) check();
  }

  /** A forward pass fills a few blocks of a chain. */
  private void compute() {
    var device = pools.getFirst();
    int first = random.nextInt(names);
    device
        .allocate(1 + random.nextInt(3 * size))
        .ifPresent(
            blocks -> {
              for (int i = 0; i < blocks.size(); i++) {
                var content = TestTiers.content((first + i) % names);
                bytes.getFirst()[blocks.get(i).id()] = content.hash();
                held.add(blocks.get(i).receive(content));
              }
            });
  }

  private void offload() {
    if (held.isEmpty()) return;
    var chosen = new ArrayList<Block.Registered>();
    for (int i = random.nextInt(Math.min(60, 6 * size)); i >= 0; i--) chosen.add(one(held));
    var precondition = random.nextInt(3) == 0 ? new Precondition() : Precondition.met();
    boolean strong = random.nextInt(3) == 0;
    var request =
        (strong
                ? OffloadRequest.strong(chosen.stream().map(Block.Registered::share).toList())
                : OffloadRequest.weak(chosen.stream().map(Block.Registered::weak).toList()))
            .after(precondition)
            .withPriority(random.nextInt(3));
    var handle = cache.offload(request);
    if (handle.isEmpty()) {
      request.blocks().forEach(SourceBlock::drop);
      return;
    }
    if (precondition.state() == Precondition.State.PENDING) preconditions.add(precondition);
    open.add(handle.get());
  }

  private void search() {
    int first = random.nextInt(names);
    var hashes = new ArrayList<BlockHash>();
    for (int i = random.nextInt(8 * size); i >= 0; i--)
      hashes.add(TestTiers.hash((first + i) % names));
    searches.add(
        cache.find(
            hashes,
            Duration.ofMillis(1 + random.nextInt(2_000)),
            found -> {
              for (int i = 0; i < found.blocks().size(); i++) {
                var block = found.blocks().get(i);
                assertThat(block.hash()).isEqualTo(hashes.get(i));
                assertThat(bytes.getFirst()[block.id()]).isEqualTo(hashes.get(i));
                held.add(block);
              }
            }));
  }

  private void release() {
    for (int i = random.nextInt(8 * size); i >= 0 && !held.isEmpty(); i--) {
      held.remove(random.nextInt(held.size())).release();
    }
  }

  private void settlePrecondition() {
    if (preconditions.isEmpty()) return;
    var precondition = preconditions.remove(random.nextInt(preconditions.size()));
    if (random.nextInt(5) == 0) precondition.fail("the step threw");
    else precondition.meet();
  }

  private void rare() {
    if (random.nextInt(4) == 0) one(pools).clear();
    else if (!searches.isEmpty()) searches.remove(random.nextInt(searches.size())).cancel();
  }

  /** Cancels a transfer that was not cancelled before; now and then one that was, too. */
  private void cancel() {
    if (open.isEmpty()) return;
    var handle = one(open);
    if (!isWanted(handle)) {
      handle.cancel();
      return;
    }
    cancel(handle);
  }

  private void cancel(TransferHandle handle) {
    cancellations++;
    boolean upgraded = handle.status() == TransferHandle.Status.TRANSFERRING;
    handle.cancel();
    if (!upgraded) {
      cancelled.add(new Cancelled(handle, loop.nanos() + 2 * SWEEP.toNanos()));
    }
  }

  /** Returns how many blocks ended each way, on all edges. */
  public List<Long> totals() {
    var sums = new long[6];
    for (var edge : cache.edges()) {
      var totals = edge.totals();
      sums[0] += totals.completed();
      sums[1] += totals.failed();
      sums[2] += totals.evicted();
      sums[3] += totals.filtered();
      sums[4] += totals.cancelled();
      sums[5] += totals.refused();
    }
    return Arrays.stream(sums).boxed().toList();
  }

  private void check() {
    for (var pool : pools) {
      assertThat(pool.free() + pool.countHeld() + pool.cached()).isEqualTo(pool.total());
    }
    for (var edge : cache.edges()) {
      assertThat(edge.load().waiting()).isBetween(0, edge.load().waitingMax());
    }
    var onboardings = cache.onboardings();
    assertThat(onboardings.searches()).isBetween(0, onboardings.searchesMax());
    assertThat(onboardings.overdue()).isBetween(0, onboardings.onboarding());
    open.removeIf(
        handle -> {
          var progress = handle.progress();
          assertThat(progress.settled()).isLessThanOrEqualTo(progress.submitted());
          boolean ended = handle.status().isFinal();
          assertThat(ended).isEqualTo(progress.settled() == progress.submitted());
          return ended;
        });
    cancelled.removeIf(
        wish -> {
          boolean ended = wish.handle().status().isFinal();
          assertThat(ended || loop.nanos() <= wish.confirmedNanos())
              .as("cancel confirmed within two sweeps, %s", wish.handle().progress())
              .isTrue();
          return ended;
        });
  }

  /** Faults off: everything drains, and nothing is held by anybody. */
  private void end() {
    stores.forEach(FaultyTier::heal);
    preconditions.forEach(Precondition::meet);
    held.forEach(Block.Registered::release);
    held.clear();
    while (loop.step()) check();
    check();
    held.forEach(Block.Registered::release);
    assertThat(open).isEmpty();
    assertThat(cancelled).isEmpty();
    assertThat(cache.settlement().pending()).isZero();
    assertThat(cache.arriving() + cache.onboardings().searches() + cache.onboardings().overdue())
        .isZero();
    for (var edge : cache.edges()) assertThat(edge.load().isEmpty()).isTrue();
    for (var pool : pools) assertThat(pool.held()).as("held on %s", pool.tier()).isZero();
  }

  private <T> T one(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
