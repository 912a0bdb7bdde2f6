package dev.kvasir.offload.onboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.offload.TestTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.store.BoundedStore;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.offload.store.HeldStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Prompts of the size of users' on a store whose queue is smaller than they are. */
class LoadBurstTest {
  private static final Duration SLOW = Duration.ofSeconds(2);
  private static final int QUEUE = 1024;

  private final VirtualLoop loop = new VirtualLoop();

  /** A host tier over a server, and the prompts that were asked for. */
  private final class Tiers {
    private final PrefixRegistry registry = new PrefixRegistry();
    private final BlockPool host = pool(Tier.HOST, 64_000);
    private final BlockPool remote = pool(Tier.REMOTE, 32_000);
    private final BoundedStore store;
    private final GuardedStore guarded;
    private final TieredKvCache cache;
    private final List<Integer> usable = new ArrayList<>();
    private int names;

    Tiers(int queueMax, Duration copy) {
      store = new BoundedStore(loop, queueMax, copy);
      guarded = new GuardedStore(loop, store, 5, Duration.ofSeconds(5), SLOW);
      var lower = LowerTier.of(remote, guarded).with(LoadWindows.of(queueMax));
      cache = new TieredKvCache(loop, registry, host, List.of(lower));
    }

    private BlockPool pool(Tier tier, int blocks) {
      var settings = PoolSettings.of(tier, blocks, 16).with(Eviction.lru());
      return new BlockPool(settings, registry, new KvEvents());
    }

    /** Requests a prompt that is on the server alone. */
    void request(int blocks) {
      for (int i = 0; i < blocks; i++) TestTiers.put(remote, names + i);
      int at = usable.size();
      usable.add(-1);
      cache.find(
          TestTiers.hashes(names, blocks),
          OnboardingLimits.DEFAULT.loadTimeout(),
          found -> {
            usable.set(at, found.blocks().size());
            host.release(found.blocks());
          });
      names += blocks;
    }
  }

  @Test
  void aPromptLongerThanTheQueueIsLoadedWhole() {
    var tiers = new Tiers(QUEUE, Duration.ofNanos(40_000));
    tiers.request(1_250);
    loop.runFor(Duration.ofSeconds(20));
    assertThat(tiers.usable).containsExactly(1_250);
    assertThat(tiers.store.refused).isZero();
  }

  @Test
  void aBurstOnAHealthyServerIsServedAndOpensNoBreaker() {
    var tiers = new Tiers(QUEUE, Duration.ofNanos(156_000));
    for (int i = 0; i < 40; i++) tiers.request(200);
    loop.runFor(Duration.ofSeconds(20));
    assertThat(tiers.usable).hasSize(40).containsOnly(200);
    assertThat(tiers.guarded.trips()).isZero();
    tiers.request(10);
    loop.runFor(Duration.ofSeconds(1));
    assertThat(tiers.usable.getLast()).isEqualTo(10);
  }

  @Test
  void longPromptsShareAStoreThatIsTooSlowForAllOfThem() {
    var tiers = new Tiers(QUEUE, Duration.ofMillis(2));
    for (int i = 0; i < 8; i++) tiers.request(1_000);
    loop.runFor(Duration.ofMinutes(1));
    // Of 5,000 blocks that come in time, the first prompt had half a queue before the others came.
    assertThat(tiers.usable).allMatch(blocks -> blocks >= (5_000 - QUEUE / 2) / 8 - 32);
    assertThat(tiers.guarded.trips()).isZero();
  }

  @Test
  void anyBurstNeverTripsAndEachPromptGetsAFairShare() {
    Seeds.each(
        40 * Seeds.scale(),
        random -> {
          int queueMax = 16 << random.nextInt(7);
          var copy = Duration.ofNanos(1_000L * (20 + random.nextInt(8_000)));
          var tiers = new Tiers(queueMax, copy);
          int prompts = 1 + random.nextInt(40);
          int blocks = 1 + random.nextInt(Math.min(2_000, 12_000 / prompts));
          for (int i = 0; i < prompts; i++) tiers.request(blocks);
          loop.runFor(Duration.ofMinutes(2));
          assertThat(tiers.guarded.trips()).isZero();
          assertThat(tiers.store.refused).isZero();
          assertThat(tiers.store.queuedMax).isLessThanOrEqualTo(queueMax);
          var windows = LoadWindows.of(queueMax);
          long inTime = OnboardingLimits.DEFAULT.loadTimeout().dividedBy(copy);
          // Whoever comes first finds the store free, and nobody is more than a window behind.
          long shared = Math.max(0, inTime - windows.copiesMax());
          long share = Math.min(blocks, shared / prompts - windows.windowMax());
          assertThat(tiers.usable).allMatch(got -> got >= share);
          // What was loaded beyond is what the store had when time was up.
          int sum = tiers.usable.stream().mapToInt(Integer::intValue).sum();
          assertThat(tiers.store.loaded - sum).isBetween(0, windows.copiesMax());
        });
  }

  @Test
  void nothingBehindAGapIsLoadedButWhatTheStoreHasAlready() {
    var store = new HeldStore(loop);
    var tiers = new Tiers(QUEUE, Duration.ofMillis(1));
    var lower = LowerTier.of(tiers.remote, store).with(new LoadWindows(8, 4));
    var cache = new TieredKvCache(loop, tiers.registry, tiers.host, List.of(lower));
    for (int i = 0; i < 20; i++) TestTiers.put(tiers.remote, i);
    var usable = new ArrayList<Integer>();
    cache.find(
        TestTiers.hashes(0, 20),
        Duration.ofMinutes(1),
        found -> {
          usable.add(found.blocks().size());
          tiers.host.release(found.blocks());
        });
    assertThat(store.calls).extracting(call -> call.copies().size()).containsExactly(4, 4);
    store.succeed();
    loop.runFor(Duration.ofMillis(1));
    assertThat(store.calls).hasSize(2);
    store.answer(new CopyOutcome.Failed("torn"));
    loop.runFor(Duration.ofMillis(1));
    assertThat(store.calls).hasSize(1);
    store.succeed();
    loop.runFor(Duration.ofMillis(1));
    assertThat(store.calls).isEmpty();
    assertThat(usable).containsExactly(4);
    assertThat(tiers.host.held() + tiers.remote.held() + cache.arriving()).isZero();
  }

  @Test
  void copiesThatWaitForOthersDoNotMakeAStoreSlow() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var copy = Duration.ofNanos(1 + random.nextInt(10_000_000));
          var store = new BoundedStore(loop, Integer.MAX_VALUE, copy);
          var guarded = new GuardedStore(loop, store, 5, Duration.ofSeconds(5), SLOW);
          var copies = TestTiers.copies(100);
          int calls = 1 + random.nextInt(100);
          var answers = new ArrayList<Integer>();
          for (int i = 0; i < calls; i++) {
            guarded.load(copies, outcomes -> answers.add(outcomes.size()));
          }
          loop.runFor(copy.multipliedBy(100L * calls).plusSeconds(1));
          assertThat(answers).isEqualTo(Collections.nCopies(calls, 100));
          assertThat(guarded.trips()).isZero();
        });
  }
}
