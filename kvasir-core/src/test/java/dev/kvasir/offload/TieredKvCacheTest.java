package dev.kvasir.offload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.HeldStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TieredKvCacheTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration SOON = Duration.ofMillis(1);

  private final TestTiers tiers = new TestTiers();
  private final BlockPool disk = tiers.pool(Tier.DISK, 512);
  private final HeldStore diskStore = new HeldStore(tiers.loop);
  private final List<Onboarding.Found> found = new ArrayList<>();
  private final TieredKvCache cache = cache(ReuseCost.FREE);

  @Test
  void prefixAtTheTopIsFoundAtOnce() {
    tiers.device.release(tiers.register(0, 3));
    find(0, 5);
    assertThat(found.getFirst().blocks())
        .extracting(Block.Registered::hash)
        .containsExactlyElementsOf(TestTiers.hashes(0, 3));
    assertThat(tiers.device.held()).isEqualTo(3);
  }

  @Test
  void prefixOverInterleavedTiersComesUpWhole() {
    TestTiers.put(tiers.device, 0);
    TestTiers.put(tiers.host, 1);
    TestTiers.put(disk, 2);
    TestTiers.put(tiers.host, 3);
    find(0, 5);
    assertThat(found).isEmpty();
    // One transfer for what lies on the same tier.
    assertThat(tiers.store.calls.getFirst().copies()).hasSize(2);
    tiers.store.succeed();
    diskStore.succeed();
    tiers.passTime(SOON);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).hasSize(4);
    assertThat(found.getFirst().tiers())
        .containsExactly(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.HOST);
    assertThat(tiers.registry.tiers(TestTiers.hash(2)))
        .containsExactly(Tier.DEVICE, Tier.HOST, Tier.DISK);
    tiers.device.release(found.getFirst().blocks());
    assertNothingHeld();
  }

  @Test
  void severalWhoWantABlockShareOneTransfer() {
    TestTiers.put(tiers.host, 0);
    TestTiers.put(tiers.host, 1);
    find(0, 2);
    find(0, 1);
    find(0, 2);
    assertThat(tiers.store.calls).hasSize(1);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found)
        .extracting(answer -> answer.blocks().size())
        .containsExactlyInAnyOrder(2, 1, 2);
    for (var answer : found) tiers.device.release(answer.blocks());
    assertNothingHeld();
  }

  @Test
  void whatCameBeforeAFailureIsKept() {
    for (int i = 0; i < 4; i++) TestTiers.put(tiers.host, i);
    find(0, 4);
    var failed = new CopyOutcome.Failed("no");
    tiers.store.answer(
        tiers.store.calls.remove(),
        List.of(CopyOutcome.COPIED, CopyOutcome.COPIED, failed, CopyOutcome.COPIED));
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).hasSize(2);
    // The one behind the gap is at the top too, for whoever comes next.
    assertThat(tiers.device.has(TestTiers.hash(3))).isTrue();
    assertThat(tiers.device.has(TestTiers.hash(2))).isFalse();
    assertThat(tiers.host.has(TestTiers.hash(2))).isTrue();
    tiers.device.release(found.getFirst().blocks());
    assertNothingHeld();
  }

  @Test
  void damagedBlockIsAMissFromThenOn() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    tiers.store.answer(new CopyOutcome.Damaged("bad checksum"));
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).isEmpty();
    assertThat(tiers.registry.tiers(TestTiers.hash(0))).isEmpty();
    assertNothingHeld();
  }

  @Test
  void tokensThatTheStoreBringsAlongAreKnownFromThenOn() {
    TestTiers.put(disk, 0);
    find(0, 1);
    var tokens = IntStream.range(0, 16).toArray();
    diskStore.answer(new CopyOutcome.Copied(TestTiers.content(0).withTokens(tokens)));
    tiers.passTime(SOON);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks().getFirst().content().tokens()).isEqualTo(tokens);
  }

  @Test
  void answerComesWhenPatienceEndsWithWhatHasArrived() {
    TestTiers.put(tiers.host, 0);
    TestTiers.put(disk, 1);
    find(0, 2);
    tiers.store.succeed();
    tiers.passTime(PATIENCE);
    assertThat(found.getFirst().blocks()).hasSize(1);
    diskStore.succeed();
    tiers.passTime(SOON);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(tiers.device.has(TestTiers.hash(1))).isTrue();
    tiers.device.release(found.getFirst().blocks());
    assertNothingHeld();
  }

  @Test
  void cancelledSearchHoldsNothingAndDisturbsNobody() {
    TestTiers.put(tiers.host, 0);
    var first = cache.find(TestTiers.hashes(0, 1), PATIENCE, found::add);
    find(0, 1);
    first.cancel();
    first.cancel();
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found).hasSize(1);
    tiers.device.release(found.getFirst().blocks());
    assertNothingHeld();
  }

  @Test
  void fullTopGivesAsMuchOfThePrefixAsFits() {
    for (int i = 0; i < 4; i++) TestTiers.put(tiers.host, i);
    var held = tiers.device.allocate(tiers.device.total() - 3).orElseThrow();
    find(0, 4);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).hasSize(3);
    tiers.device.release(found.getFirst().blocks());
    tiers.device.release(held);
    assertNothingHeld();
  }

  @Test
  void fullTopBringsUpTheFrontOfAPrefixWhereverItLies() {
    for (int i = 0; i < 10; i++) TestTiers.put(disk, i);
    for (int i = 10; i < 20; i++) TestTiers.put(tiers.host, i);
    var held = tiers.device.allocate(tiers.device.total() - 10).orElseThrow();
    find(0, 20);
    assertThat(tiers.store.calls).isEmpty();
    diskStore.succeed();
    tiers.passTime(SOON);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).hasSize(10);
    tiers.device.release(found.getFirst().blocks());
    tiers.device.release(held);
    assertNothingHeld();
  }

  @Test
  void whatLiesBehindBlocksThatFindNoRoomOnTheWayStaysBelow() {
    for (int i = 0; i < 4; i++) TestTiers.put(disk, i);
    for (int i = 4; i < 8; i++) TestTiers.put(tiers.host, i);
    var occupied = tiers.host.allocate(tiers.host.total() - 4 - 3).orElseThrow();
    find(0, 8);
    assertThat(diskStore.calls.element().copies()).hasSize(3);
    assertThat(tiers.store.calls).isEmpty();
    diskStore.succeed();
    tiers.passTime(SOON);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).hasSize(3);
    tiers.device.release(found.getFirst().blocks());
    tiers.host.release(occupied);
    assertNothingHeld();
  }

  @Test
  void blocksAtTheTopAreNotEvictedForTheFrontOfTheirOwnPrefix() {
    for (int i = 0; i < 4; i++) TestTiers.put(tiers.host, i);
    for (int i = 4; i < 8; i++) TestTiers.put(tiers.device, i);
    var held = tiers.device.allocate(tiers.device.total() - 4 - 2).orElseThrow();
    find(0, 8);
    assertThat(tiers.store.calls.element().copies()).hasSize(2);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).hasSize(2);
    tiers.device.release(found.getFirst().blocks());
    tiers.device.release(held);
    assertNothingHeld();
  }

  @Test
  void nothingIsBroughtUpThatIsCheaperToCompute() {
    var slow =
        cache(new ReuseCost(Duration.ofMillis(50), Duration.ofMillis(2), Duration.ofMillis(10)));
    for (int i = 0; i < 10; i++) TestTiers.put(tiers.host, i);
    slow.find(TestTiers.hashes(0, 4), PATIENCE, found::add);
    assertThat(found.getFirst().worthwhile()).isZero();
    assertThat(tiers.store.calls).isEmpty();
    slow.find(TestTiers.hashes(0, 10), PATIENCE, found::add);
    assertThat(tiers.store.calls.getFirst().copies()).hasSize(10);
  }

  @Test
  void dearTierIsLeftAloneThoughTheOneAboveItIsFree() {
    var dear = new ReuseCost(Duration.ofMillis(50), Duration.ofMillis(20), Duration.ofMillis(10));
    var mixed =
        new TieredKvCache(
            tiers.loop,
            tiers.registry,
            tiers.device,
            List.of(
                LowerTier.of(tiers.host, tiers.store), LowerTier.of(disk, diskStore).with(dear)));
    TestTiers.put(tiers.host, 0);
    TestTiers.put(disk, 1);
    mixed.find(TestTiers.hashes(0, 2), PATIENCE, found::add);
    assertThat(tiers.store.calls.getFirst().copies()).hasSize(1);
    assertThat(diskStore.calls).isEmpty();
  }

  @Test
  void blocksGoDownThroughAllTiersAndComeBack() {
    var handle = cache.offload(OffloadRequest.weak(tiers.cached(0, 8))).orElseThrow();
    tiers.store.succeed();
    tiers.passTime(SOON);
    diskStore.succeed();
    tiers.passTime(SOON);
    assertThat(handle.next().getFirst().progress().completed()).isEqualTo(8);
    assertThat(cache.settlement().pending()).isZero();
    tiers.device.clear();
    tiers.host.clear();
    find(0, 8);
    diskStore.succeed();
    tiers.passTime(SOON);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).hasSize(8);
  }

  @Test
  void tiersThatNarrowDownwardsAreWarnedOf() {
    assertThat(cache.warnings()).isEmpty();
    var other = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 16, 4);
    var narrow =
        new TieredKvCache(
            other.loop,
            other.registry,
            other.device,
            List.of(LowerTier.of(other.host, other.store)));
    assertThat(narrow.warnings().getFirst())
        .startsWith("HOST has 4 blocks, fewer than the 16 of DEVICE above it");
  }

  @Test
  void tiersInTheWrongOrderAreRefused() {
    assertThatThrownBy(
            () ->
                new TieredKvCache(
                    tiers.loop,
                    tiers.registry,
                    tiers.host,
                    List.of(LowerTier.of(tiers.device, tiers.store))))
        .hasMessage("DEVICE cannot stand below HOST");
  }

  @Test
  void whatIsNoMemoryMayStandInAnyOrderAndTheUpperOneGives() {
    var above = tiers.pool(Tier.OBJECT, 16);
    var objects = new HeldStore(tiers.loop);
    var tieredCache =
        new TieredKvCache(
            tiers.loop,
            tiers.registry,
            tiers.device,
            List.of(
                LowerTier.of(tiers.host, tiers.store),
                LowerTier.of(above, objects),
                LowerTier.of(disk, diskStore)));
    for (var pool : List.of(above, disk)) {
      for (var block : pool.allocate(4).orElseThrow()) {
        block.receive(TestTiers.content(block.id())).release();
      }
    }
    tieredCache.find(TestTiers.hashes(0, 4), PATIENCE, found::add);
    assertThat(diskStore.calls).isEmpty();
    objects.succeed();
    tiers.passTime(SOON);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(found.getFirst().arrivedFrom()).hasSize(4).containsOnly(Tier.OBJECT);
  }

  private TieredKvCache cache(ReuseCost cost) {
    return new TieredKvCache(
        tiers.loop,
        tiers.registry,
        tiers.device,
        List.of(
            LowerTier.of(tiers.host, tiers.store).with(cost),
            LowerTier.of(disk, diskStore).with(cost)));
  }

  private void find(int from, int count) {
    cache.find(TestTiers.hashes(from, count), PATIENCE, found::add);
  }

  private void assertNothingHeld() {
    assertThat(tiers.device.held() + tiers.host.held() + disk.held()).isZero();
    assertThat(cache.arriving()).isZero();
  }
}
