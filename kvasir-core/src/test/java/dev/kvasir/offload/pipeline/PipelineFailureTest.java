package dev.kvasir.offload.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.TestTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.offload.store.HeldStore;
import dev.kvasir.offload.store.RelayedStore;
import dev.kvasir.offload.store.TierStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests that what others throw inside a pipeline ends what it was about, and nothing else. */
class PipelineFailureTest {
  private static final Duration SOON = Duration.ofMillis(1);

  /** Exception that the tests throw. */
  private static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1;

    Thrown(String message) {
      super(message);
    }
  }

  @Test
  void listenerThatThrowsIsReportedAndTheEdgeGoesOn() {
    var tiers = new TestTiers();
    var statuses = new ArrayList<TransferHandle.Status>();
    var first = tiers.offload(0, 8);
    first.whenDone(
        result -> {
          throw new Thrown("listener");
        });
    first.whenDone(result -> statuses.add(result.status()));
    var second = tiers.offload(10, 8);
    tiers.store.succeed();
    assertReported(tiers, "listener");
    assertThat(statuses).containsExactly(TransferHandle.Status.COMPLETE);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(second.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertNothingLeft(tiers);
  }

  @Test
  void listenerThatThrowsDuringTheUpgradeLeavesTheEdgeRunning() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 8, 64);
    var gone = tiers.offload(0, 4);
    gone.whenDone(
        result -> {
          throw new Thrown("listener");
        });
    tiers.device.clear();
    assertReported(tiers, "listener");
    assertThat(gone.progress().evicted()).isEqualTo(4);
    var next = tiers.offload(10, 8);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(next.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertNothingLeft(tiers);
  }

  @Test
  void storeThatThrowsFailsItsTransferAndTheEdgeGoesOn() {
    var tiers = new TestTiers();
    var disk = tiers.pool(Tier.DISK, 64);
    var store = new ThrowingStore(tiers);
    var edge = new OffloadPipeline.Edge(disk, store, null);
    var pipeline =
        new OffloadPipeline(
            tiers.loop, PipelineSettings.DEFAULT, OffloadPolicy.presence(), edge, tiers.settlement);
    var failed = pipeline.enqueue(OffloadRequest.weak(tiers.cached(0, 8))).orElseThrow();
    var next = pipeline.enqueue(OffloadRequest.weak(tiers.cached(10, 8))).orElseThrow();
    assertReported(tiers, "store");
    tiers.passTime(SOON);
    assertThat(failed.result().orElseThrow().blocks().getFirst().outcome())
        .isEqualTo(new BlockOutcome.Failed("the store threw " + new Thrown("store")));
    assertThat(disk.held()).isEqualTo(8);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(next.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(disk.cached()).isEqualTo(8);
    assertThat(pipeline.load().isEmpty()).isTrue();
    assertNothingLeft(tiers);
  }

  @Test
  void storeThatThrowsWhenAskedToLoadIsAMissAndItsSlotsAreFree() {
    var tiers = new TestTiers();
    var found = new ArrayList<Onboarding.Found>();
    var cache =
        new TieredKvCache(
            tiers.loop,
            tiers.registry,
            tiers.device,
            List.of(LowerTier.of(tiers.host, new ThrowingStore(tiers))));
    TestTiers.put(tiers.host, 0);
    cache.find(TestTiers.hashes(0, 1), Duration.ofSeconds(5), found::add);
    assertReported(tiers, "store");
    tiers.passTime(SOON);
    assertThat(found.getFirst().blocks()).isEmpty();
    assertThat(cache.arriving()).isZero();
    assertNothingLeft(tiers);
  }

  @Test
  void guardCountsAStoreThatThrowsAsFailed() {
    var tiers = new TestTiers();
    var second = Duration.ofSeconds(1);
    var guarded = new GuardedStore(tiers.loop, new ThrowingStore(tiers), 1, second, second);
    var answers = new ArrayList<List<CopyOutcome>>();
    guarded.store(List.of(new BlockCopy(TestTiers.content(0), 0, 0)), answers::add);
    assertReported(tiers, "store");
    tiers.passTime(SOON);
    assertThat(answers).hasSize(1);
    assertThat(guarded.isTripped()).isTrue();
  }

  @Test
  void relayAnswersForAStoreThatThrowsAndFreesItsSlots() {
    var tiers = new TestTiers();
    var store = new RelayedStore(tiers.store, new ThrowingStore(tiers), 0, 1);
    var answers = new ArrayList<List<CopyOutcome>>();
    var copies = List.of(new BlockCopy(TestTiers.content(0), 0, 0));
    store.load(copies, answers::add);
    assertThat(answers.getFirst().getFirst()).isInstanceOf(CopyOutcome.Failed.class);
    store.load(copies, answers::add);
    for (int i = 0; i < 2; i++) {
      tiers.store.succeed();
      tiers.passTime(SOON);
    }
    assertThat(answers.getLast()).containsExactly(CopyOutcome.COPIED);
  }

  @Test
  void policyThatThrowsFailsItsContainerAndLeaksNothing() {
    var tiers =
        new TestTiers(
            PipelineSettings.DEFAULT,
            (candidate, answer) -> {
              if (candidate.hash().equals(TestTiers.hash(3))) throw new Thrown("policy");
              answer.accept(OffloadPolicy.Verdict.PASS);
            });
    var failed = tiers.enqueue(OffloadRequest.strong(tiers.register(0, 8)));
    assertThat(failed.status()).isEqualTo(TransferHandle.Status.FAILED);
    assertThat(failed.result().orElseThrow().failed()).hasSize(8);
    assertReported(tiers, "policy");
    assertThat(tiers.pipeline.load().pending()).isZero();
    var next = tiers.offload(10, 8);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(next.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertNothingLeft(tiers);
  }

  @Test
  void holdThatItsCallerReleasedTooEarlyFailsItsTransferAlone() {
    var tiers = new TestTiers();
    var blocks = tiers.register(0, 2);
    var broken = tiers.enqueue(OffloadRequest.strong(blocks));
    blocks.getFirst().release();
    assertReported(tiers, "DEVICE block 0 was released already");
    while (tiers.loop.pending() > 0 && !broken.status().isFinal()) drainReports(tiers);
    assertThat(broken.status()).isEqualTo(TransferHandle.Status.FAILED);
    drainReports(tiers);
    var next = tiers.offload(10, 8);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(next.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertNothingLeft(tiers);
  }

  @Test
  void waiterThatThrowsKeepsNoOtherFromHearingThatAPreconditionIsMet() {
    var notifications = new ArrayList<String>();
    var precondition = new Precondition();
    precondition.whenSettled(throwing("first"));
    precondition.whenSettled(throwing("second"));
    precondition.whenSettled(() -> notifications.add("third"));
    assertThatThrownBy(precondition::meet)
        .hasMessage("first")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(notifications).containsExactly("third");
  }

  @Test
  void waiterThatThrowsKeepsNoOtherFromHearingOfACancellationOrOfTheEnd() {
    var notifications = new ArrayList<String>();
    var token = new CancellationToken();
    token.whenRequested(throwing("token"));
    token.whenRequested(() -> notifications.add("cancelled"));
    assertThatThrownBy(token::request).hasMessage("token");
    var settlement = new PendingTransfers();
    settlement.open();
    settlement.whenSettled(throwing("settlement"));
    settlement.whenSettled(() -> notifications.add("settled"));
    assertThatThrownBy(settlement::close).hasMessage("settlement");
    assertThat(notifications).containsExactly("cancelled", "settled");
  }

  @Test
  void callerThatThrowsWhenItsBlocksHaveComeKeepsNoOtherWaiting() {
    var tiers = new TestTiers();
    var cache =
        new TieredKvCache(
            tiers.loop,
            tiers.registry,
            tiers.device,
            List.of(LowerTier.of(tiers.host, tiers.store)));
    TestTiers.put(tiers.host, 0);
    var patience = Duration.ofSeconds(5);
    Consumer<Onboarding.Found> broken =
        found -> {
          tiers.device.release(found.blocks());
          throw new Thrown("caller");
        };
    cache.find(TestTiers.hashes(0, 1), patience, broken);
    var found = new ArrayList<Block.Registered>();
    cache.find(TestTiers.hashes(0, 1), patience, answer -> found.addAll(answer.blocks()));
    tiers.store.succeed();
    assertReported(tiers, "caller");
    assertThat(found).hasSize(1);
    tiers.device.release(found);
    assertThat(cache.arriving()).isZero();
    assertNothingLeft(tiers);
  }

  @Test
  void storeThatAnswersTwiceOrTooLittleChangesNothing() {
    var tiers = new TestTiers();
    var handle = tiers.offload(0, 8);
    var call = tiers.store.calls.remove();
    assertThatThrownBy(() -> call.done().accept(List.of()))
        .hasMessage("0 outcomes for 8 copies, finished false");
    assertThat(tiers.pipeline.load().transfers()).isEqualTo(1);
    tiers.passTime(PipelineSettings.Limits.DEFAULT.transferTimeout());
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.FAILED);
    List<CopyOutcome> outcomes = Collections.nCopies(8, CopyOutcome.COPIED);
    call.done().accept(outcomes);
    assertThatThrownBy(() -> call.done().accept(outcomes))
        .hasMessage("8 outcomes for 8 copies, finished true");
    assertThat(tiers.pipeline.load().transfers()).isZero();
    assertNothingLeft(tiers);
  }

  private static Runnable throwing(String message) {
    return () -> {
      throw new Thrown(message);
    };
  }

  private static void assertReported(TestTiers tiers, String message) {
    assertThatThrownBy(() -> tiers.passTime(Duration.ofMillis(20))).hasMessage(message);
  }

  private static void drainReports(TestTiers tiers) {
    for (int i = 0; i < 10; i++) {
      try {
        tiers.passTime(Duration.ofMillis(20));
        return;
      } catch (IllegalStateException e) {
        assertThat(e).hasMessageContaining("released already");
      }
    }
  }

  private static void assertNothingLeft(TestTiers tiers) {
    assertThat(tiers.device.held() + tiers.host.held()).isZero();
    assertThat(tiers.pipeline.load().isEmpty()).isTrue();
    assertThat(tiers.settlement.pending()).isZero();
  }

  /** Throws at the first call, and passes the others on. */
  private static final class ThrowingStore implements TierStore {
    private final HeldStore store;
    private boolean thrown;

    ThrowingStore(TestTiers tiers) {
      this.store = tiers.store;
    }

    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      fail();
      store.store(copies, done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      fail();
      store.load(copies, done);
    }

    private void fail() {
      if (thrown) return;
      thrown = true;
      throw new Thrown("store");
    }
  }
}
