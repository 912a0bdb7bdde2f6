package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.onboard.LoadWindows;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.store.FaultyTier;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * One random life of those who ask a tiered cache whose stores stand still again and again, for
 * longer than anybody waits. What is computed meanwhile is computed here.
 */
public final class StallWalk {
  private static final int NAMES = 40;

  private final RandomGenerator random;

  /** The factor by which everything is larger than usual. */
  private final int size;

  private final VirtualLoop loop = new VirtualLoop();
  private final PrefixRegistry registry = new PrefixRegistry();
  private final List<BlockPool> pools = new ArrayList<>();
  private final List<@Nullable BlockHash[]> bytes = new ArrayList<>();
  private final List<FaultyTier> stores = new ArrayList<>();
  private final OnboardingLimits limits;
  private final TieredKvCache cache;
  private final List<Block.Registered> held = new ArrayList<>();
  private final List<Search> searches = new ArrayList<>();
  private long late;

  /** One request's search, and when it must have been answered. */
  private static final class Search {
    private final long answeredNanosMax;
    private int answers;

    Search(long answeredNanosMax) {
      this.answeredNanosMax = answeredNanosMax;
    }
  }

  public StallWalk(RandomGenerator random) {
    this(random, 1);
  }

  /** Prompts and tiers that many times larger, on stores with queues smaller than them. */
  public StallWalk(RandomGenerator random, int size) {
    this.random = random;
    this.size = size;
    for (var tier : List.of(Tier.DEVICE, Tier.HOST, Tier.DISK)) {
      int blocks = size * (6 + random.nextInt(24));
      pools.add(new BlockPool(PoolSettings.of(tier, blocks, 16), registry, new KvEvents()));
      bytes.add(new BlockHash[blocks]);
    }
    var lowerTiers = new ArrayList<LowerTier>();
    for (int i = 1; i < pools.size(); i++) {
      int queueMax = 2 + random.nextInt(4 * size);
      stores.add(new FaultyTier(loop, random, bytes.get(i - 1), bytes.get(i)).ofQueue(queueMax));
      lowerTiers.add(LowerTier.of(pools.get(i), stores.getLast()).with(LoadWindows.of(queueMax)));
    }
    limits =
        new OnboardingLimits(
            Duration.ofMillis(100 + random.nextInt(2_000)), 1 + random.nextInt(8), 50);
    cache = new TieredKvCache(loop, registry, pools.getFirst(), lowerTiers, limits, null);
  }

  /** Runs so many operations; returns how many loads were not answered in time. */
  public long run(int operations) {
    for (int i = 0; i < operations; i++) {
      operate(random.nextInt(12));
      check();
    }
    end();
    return cache.onboardings().loadsTimedOut();
  }

  /** Returns how many blocks came although nobody waited for them any more. */
  public long late() {
    return late;
  }

  private void operate(int operation) {
    switch (operation) {
      case 0, 1 -> compute();
      case 2 -> put();
      case 3, 4, 5 -> search();
      case 6 -> release();
      case 7 -> stand();
      case 8 -> pass(Duration.ofMillis(random.nextInt(3_000)));
      case 9 -> {
        if (random.nextInt(20) == 0) pools.get(random.nextInt(pools.size())).clear();
      }
      default -> pass(Duration.ofMillis(random.nextInt(50)));
    }
  }

  private void compute() {
    var block = pools.getFirst().allocate(1);
    block.ifPresent(empty -> held.add(write(0, empty.getFirst())));
    // Where nobody waits, whatever stands still has a part of the room; the rest is held by us, or
    // on its way down.
    if (block.isEmpty() && cache.onboardings().searches() == 0) {
      int total = pools.getFirst().total();
      int moving = cache.edges().getFirst().load().moving();
      assertThat(held.size() + moving).isGreaterThanOrEqualTo(total - limits.reservedMax(total));
    }
  }

  /** Something lies on a lower tier. */
  private void put() {
    int level = 1 + random.nextInt(2);
    for (int i = 0; i < size; i++) {
      pools.get(level).allocate(1).ifPresent(empty -> write(level, empty.getFirst()).release());
    }
  }

  private Block.Registered write(int level, Block.Empty empty) {
    var content = TestTiers.content(random.nextInt(size * NAMES));
    bytes.get(level)[empty.id()] = content.hash();
    return empty.receive(content);
  }

  private void search() {
    var hashes = TestTiers.hashes(random.nextInt(size * NAMES), 1 + random.nextInt(6 * size));
    var patience = Duration.ofMillis(1 + random.nextInt(5_000));
    // At most two edges lie between a block and the top, each with its own timeout.
    long longest = Math.min(patience.toNanos(), stores.size() * limits.loadTimeout().toNanos());
    var search = new Search(loop.nanos() + longest);
    searches.add(search);
    cache.find(
        hashes,
        patience,
        found -> {
          search.answers++;
          for (int i = 0; i < found.blocks().size(); i++) {
            assertThat(found.blocks().get(i).hash()).isEqualTo(hashes.get(i));
            held.add(found.blocks().get(i));
          }
        });
  }

  private void release() {
    for (int i = random.nextInt(8 * size); i >= 0 && !held.isEmpty(); i--) {
      held.remove(random.nextInt(held.size())).release();
    }
  }

  private void stand() {
    var store = stores.get(random.nextInt(stores.size()));
    if (random.nextBoolean()) store.stand();
    else store.goOn();
  }

  private void pass(Duration duration) {
    long until = loop.nanos() + duration.toNanos();
    var marker = loop.after(duration, () -> {});
    while (loop.nanos() < until && step()) check();
    marker.cancel();
  }

  private boolean step() {
    int before = cache.onboardings().overdue();
    boolean stepped = loop.step();
    late += Math.max(0, before - cache.onboardings().overdue());
    return stepped;
  }

  private void check() {
    for (var pool : pools) {
      assertThat(pool.free() + pool.countHeld() + pool.cached()).isEqualTo(pool.total());
    }
    var onboardings = cache.onboardings();
    assertThat(onboardings.searches()).isBetween(0, limits.searchesMax());
    assertThat(onboardings.overdue()).isBetween(0, onboardings.onboarding());
    // A late answer writes into the slot that was kept for it, and into no other.
    for (var block : held) {
      assertThat(bytes.getFirst()[block.id()]).isEqualTo(block.hash());
    }
    searches.removeIf(
        search -> {
          assertThat(search.answers).isLessThanOrEqualTo(1);
          assertThat(search.answers == 1 || loop.nanos() <= search.answeredNanosMax)
              .as("answered in time")
              .isTrue();
          return search.answers == 1;
        });
  }

  /** The stores go on, and nothing is left. */
  private void end() {
    stores.forEach(FaultyTier::heal);
    while (step()) check();
    check();
    held.forEach(Block.Registered::release);
    assertThat(searches).isEmpty();
    var onboardings = cache.onboardings();
    assertThat(onboardings.searches() + onboardings.onboarding() + onboardings.overdue()).isZero();
    for (var pool : pools) assertThat(pool.held()).as("held on %s", pool.tier()).isZero();
  }
}
