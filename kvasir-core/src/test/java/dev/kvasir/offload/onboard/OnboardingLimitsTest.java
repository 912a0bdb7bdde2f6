package dev.kvasir.offload.onboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.TestTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.HeldStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class OnboardingLimitsTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final Duration SOON = Duration.ofMillis(1);

  private final TestTiers tiers = new TestTiers();
  private final BlockPool disk = tiers.pool(Tier.DISK, 512);
  private final HeldStore diskStore = new HeldStore(tiers.loop);
  private final List<Onboarding.Found> found = new ArrayList<>();
  private final TieredKvCache cache = cache(new OnboardingLimits(TIMEOUT, 2, 50));

  @Test
  void storeThatNeverAnswersCostsWhoeverWaitsTheTimeoutAndNotTheirPatience() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    tiers.passTime(Duration.ofSeconds(1));
    find(0, 1);
    assertThat(found).isEmpty();
    tiers.passTime(Duration.ofSeconds(1));
    assertThat(found).extracting(answer -> answer.blocks().size()).containsExactly(0, 0);
    assertThat(cache.onboardings().overdue()).isEqualTo(1);
    assertThat(cache.onboardings().loadsTimedOut()).isEqualTo(1);
    assertThat(cache.onboardings().searches()).isZero();
  }

  @Test
  void requestForAnOverdueBlockIsAnsweredAtOnceAndNothingIsLoadedTwice() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    tiers.passTime(TIMEOUT);
    find(0, 1);
    assertThat(found).hasSize(2);
    assertThat(found.getLast().blocks()).isEmpty();
    assertThat(tiers.store.calls).hasSize(1);
  }

  @Test
  void slotsOfAnOverdueLoadStayReservedUntilTheStoreAnswers() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    tiers.passTime(TIMEOUT.plus(PATIENCE));
    assertThat(tiers.device.held()).isEqualTo(1);
    assertThat(tiers.host.held()).isEqualTo(1);
    tiers.store.answer(new CopyOutcome.Failed("too late"));
    tiers.passTime(SOON);
    assertNothingHeld();
    assertThat(tiers.device.has(TestTiers.hash(0))).isFalse();
  }

  @Test
  void whatComesLateIsKeptForWhoeverAsksNext() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    tiers.passTime(TIMEOUT);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertNothingHeld();
    find(0, 1);
    assertThat(found.getLast().blocks()).hasSize(1);
  }

  @Test
  void whatComesLateFromFarBelowClimbsNoFurther() {
    TestTiers.put(disk, 0);
    find(0, 1);
    tiers.passTime(TIMEOUT);
    diskStore.succeed();
    tiers.passTime(SOON);
    assertThat(tiers.store.calls).isEmpty();
    assertThat(tiers.registry.tiers(TestTiers.hash(0))).containsExactly(Tier.HOST, Tier.DISK);
    assertNothingHeld();
  }

  @Test
  void blockComputedWhileItsClimbIsOverdueIsFoundAndNotReplaced() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    tiers.passTime(TIMEOUT);
    var computed = tiers.register(0, 1).getFirst();
    find(0, 1);
    assertThat(found.getLast().blocks().getFirst().id()).isEqualTo(computed.id());
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(tiers.device.hold(TestTiers.hash(0)).orElseThrow().id()).isEqualTo(computed.id());
    assertThat(tiers.device.held()).isEqualTo(1);
  }

  @Test
  void damageThatComesLateIsAMissFromThenOn() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    tiers.passTime(TIMEOUT);
    tiers.store.answer(new CopyOutcome.Damaged("bad checksum"));
    tiers.passTime(SOON);
    assertThat(tiers.registry.tiers(TestTiers.hash(0))).isEmpty();
    assertNothingHeld();
  }

  @Test
  void searchBeyondTheBoundGetsWhatIsAtTheTopAtOnce() {
    for (int i = 1; i < 4; i++) TestTiers.put(tiers.host, i);
    TestTiers.put(tiers.device, 0);
    find(1, 1);
    find(2, 1);
    find(0, 4);
    assertThat(found).hasSize(1);
    assertThat(found.getFirst().blocks()).hasSize(1);
    assertThat(found.getFirst().worthwhile()).isEqualTo(4);
    assertThat(cache.onboardings().searches()).isEqualTo(2);
    assertThat(cache.onboardings().searchesDeclined()).isEqualTo(1);
    tiers.store.succeed();
    tiers.passTime(SOON);
    find(3, 1);
    assertThat(cache.onboardings().searches()).isEqualTo(2);
  }

  @Test
  void searchThatGaveUpCountsUntilItsBlocksHaveCome() {
    TestTiers.put(tiers.host, 0);
    cache.find(TestTiers.hashes(0, 1), PATIENCE, found::add).cancel();
    assertThat(cache.onboardings().searches()).isEqualTo(1);
    tiers.passTime(TIMEOUT);
    assertThat(cache.onboardings().searches()).isZero();
  }

  @Test
  void storeThatStandsStillTakesHalfOfTheTopAtMost() {
    for (int i = 0; i < 200; i++) TestTiers.put(tiers.host, i);
    find(0, 200);
    assertThat(tiers.device.available()).isEqualTo(128);
    find(0, 200);
    assertThat(tiers.device.available()).isEqualTo(128);
    tiers.passTime(TIMEOUT);
    assertThat(found).hasSize(2);
    assertThat(tiers.device.available()).isEqualTo(128);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertNothingHeld();
  }

  @Test
  void storeThatAnswersTwiceOrTooLittleIsABug() {
    TestTiers.put(tiers.host, 0);
    find(0, 1);
    var done = tiers.store.calls.remove().done();
    assertThatThrownBy(() -> done.accept(List.of()))
        .hasMessage("0 outcomes for 1 loads, answered false");
    done.accept(Collections.nCopies(1, CopyOutcome.COPIED));
    assertThatThrownBy(() -> done.accept(Collections.nCopies(1, CopyOutcome.COPIED)))
        .hasMessage("1 outcomes for 1 loads, answered true");
  }

  @Test
  void limitsOutOfRangeAreRefusedWithTheirValues() {
    assertThatThrownBy(() -> new OnboardingLimits(Duration.ZERO, 1, 50))
        .hasMessage("loadTimeout is PT0S, expected more than 0");
    assertThatThrownBy(() -> new OnboardingLimits(TIMEOUT, 0, 50))
        .hasMessage("0 searches at most, expected 1 up");
    assertThatThrownBy(() -> new OnboardingLimits(TIMEOUT, 1, 101))
        .hasMessage("101 percent reserved at most, expected 1 to 100");
  }

  private TieredKvCache cache(OnboardingLimits limits) {
    return new TieredKvCache(
        tiers.loop,
        tiers.registry,
        tiers.device,
        List.of(LowerTier.of(tiers.host, tiers.store), LowerTier.of(disk, diskStore)),
        limits,
        null);
  }

  private void find(int from, int count) {
    cache.find(TestTiers.hashes(from, count), PATIENCE, found::add);
  }

  private void assertNothingHeld() {
    assertThat(tiers.device.held() + tiers.host.held() + disk.held()).isZero();
    assertThat(cache.arriving()).isZero();
    assertThat(cache.onboardings().overdue()).isZero();
  }
}
