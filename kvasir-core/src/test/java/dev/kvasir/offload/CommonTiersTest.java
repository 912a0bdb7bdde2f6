package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.TransferHandle;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.HeldStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two tiered caches over the same tiers. */
class CommonTiersTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final Duration SOON = Duration.ofMillis(20);
  private static final OnboardingLimits LIMITS = new OnboardingLimits(Duration.ofSeconds(2), 8, 50);

  private final VirtualLoop loop = new VirtualLoop();
  private final PrefixRegistry shared = new PrefixRegistry();
  private final BlockPool host = pool(Tier.HOST, 20, shared);
  private final BlockPool disk = pool(Tier.DISK, 64, shared);
  private final HeldStore diskStore = new HeldStore(loop);
  private final CommonTiers tiers =
      new CommonTiers(loop, shared, host, List.of(LowerTier.of(disk, diskStore)), null);
  private final Tiers first = new Tiers();
  private final Tiers second = new Tiers();

  /** An engine's own memory, and its way down. */
  private final class Tiers {
    private final PrefixRegistry own = new PrefixRegistry();
    private final BlockPool device = pool(Tier.DEVICE, 64, own);
    private final HeldStore store = new HeldStore(loop);
    private final TieredKvCache cache =
        tiers.tieredCache(own, device, LowerTier.of(host, store), LIMITS);
    private final List<Onboarding.Found> found = new ArrayList<>();

    void find(int from, int count) {
      cache.find(TestTiers.hashes(from, count), PATIENCE, found::add);
    }
  }

  @Test
  void blockThatTwoEnginesWantIsLoadedOnceAndComesToBoth() {
    put(0, 8);
    first.find(0, 8);
    second.find(0, 8);
    assertThat(diskStore.calls).hasSize(1);
    assertThat(diskStore.calls.element().copies()).hasSize(8);
    answer(diskStore, CopyOutcome.COPIED);
    assertThat(first.store.calls.element().copies()).hasSize(8);
    assertThat(second.store.calls.element().copies()).hasSize(8);
    for (var tieredCache : List.of(first, second)) {
      answer(tieredCache.store, CopyOutcome.COPIED);
      assertThat(tieredCache.found.getFirst().blocks()).hasSize(8);
      tieredCache.device.release(tieredCache.found.getFirst().blocks());
    }
    assertNothingHeld();
  }

  @Test
  void whoJoinsALoadWithMoreBlocksGetsItsOwnInOneFurtherTransfer() {
    put(0, 8);
    first.find(0, 4);
    second.find(0, 8);
    assertThat(diskStore.calls).extracting(call -> call.copies().size()).containsExactly(4, 4);
    answer(diskStore, CopyOutcome.COPIED);
    answer(diskStore, CopyOutcome.COPIED);
    answer(first.store, CopyOutcome.COPIED);
    for (int i = 0; i < 2; i++) answer(second.store, CopyOutcome.COPIED);
    assertThat(second.found.getFirst().blocks()).hasSize(8);
    for (var tieredCache : List.of(first, second)) {
      tieredCache.device.release(tieredCache.found.getFirst().blocks());
    }
    assertNothingHeld();
  }

  @Test
  void enginesTogetherReserveNoMoreOfATierThanOneMayAndOffloadFindsRoom() {
    put(0, 40);
    first.find(0, 10);
    second.find(20, 10);
    assertThat(host.available()).isEqualTo(10);
    loop.runFor(Duration.ofMinutes(1));
    assertThat(host.available()).isEqualTo(10);
    var blocks = new ArrayList<WeakBlock>();
    for (int i = 0; i < 8; i++) {
      TestTiers.put(first.device, 100 + i);
      blocks.add(new WeakBlock(first.device, TestTiers.hash(100 + i)));
    }
    var handle = first.cache.offload(OffloadRequest.weak(blocks)).orElseThrow();
    answer(first.store, CopyOutcome.COPIED);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
  }

  @Test
  void loadThatIsOverdueIsOverdueForEveryEngine() {
    put(0, 4);
    first.find(0, 4);
    second.find(0, 4);
    loop.runFor(LIMITS.loadTimeout());
    assertThat(first.found.getFirst().blocks()).isEmpty();
    assertThat(second.found.getFirst().blocks()).isEmpty();
    assertThat(
            first.cache.onboardings().loadsTimedOut() + second.cache.onboardings().loadsTimedOut())
        .isEqualTo(1);
    var third = new Tiers();
    third.find(0, 4);
    assertThat(third.found.getFirst().blocks()).isEmpty();
    assertThat(diskStore.calls).hasSize(1);
    answer(diskStore, CopyOutcome.COPIED);
    assertNothingHeld();
    assertThat(host.cached()).isEqualTo(4);
  }

  @Test
  void damageIsAMissForEveryEngine() {
    put(0, 4);
    first.find(0, 4);
    second.find(0, 4);
    answer(diskStore, new CopyOutcome.Damaged("bad checksum"));
    assertThat(first.found.getFirst().blocks()).isEmpty();
    assertThat(second.found.getFirst().blocks()).isEmpty();
    assertThat(shared.size()).isZero();
    assertNothingHeld();
  }

  private void put(int from, int count) {
    for (int i = from; i < from + count; i++) TestTiers.put(disk, i);
  }

  private void answer(HeldStore store, CopyOutcome outcome) {
    store.answer(outcome);
    loop.runFor(SOON);
  }

  private void assertNothingHeld() {
    assertThat(first.device.held() + second.device.held() + host.held() + disk.held()).isZero();
    for (var tieredCache : List.of(first, second)) {
      assertThat(tieredCache.cache.arriving() + tieredCache.cache.onboardings().overdue()).isZero();
    }
  }

  private static BlockPool pool(Tier tier, int blocks, PrefixRegistry registry) {
    return new BlockPool(PoolSettings.of(tier, blocks, 16), registry, new KvEvents());
  }
}
