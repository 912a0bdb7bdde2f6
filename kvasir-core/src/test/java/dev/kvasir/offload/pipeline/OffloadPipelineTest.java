package dev.kvasir.offload.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.TestTiers;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.HeldStore;
import dev.kvasir.offload.store.SlowStore;
import dev.kvasir.offload.store.TierStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OffloadPipelineTest {
  private static final Duration FLUSH = PipelineSettings.Batching.DEFAULT.flushInterval();
  private static final Duration SOON = Duration.ofMillis(1);

  @Test
  void partialBatchIsFlushedWhenTheIntervalHasPassed() {
    var tiers = new TestTiers();
    tiers.offload(0, 2);
    tiers.passTime(FLUSH.minusNanos(1));
    assertThat(tiers.store.calls).isEmpty();
    tiers.passTime(Duration.ofNanos(1));
    assertThat(tiers.store.calls).hasSize(1);
  }

  @Test
  void batchHoldsAtMostItsMaximumAndALargeRequestTravelsInParts() {
    var tiers = new TestTiers();
    var handle = tiers.offload(0, 150);
    for (int expected : new int[] {64, 64, 22}) {
      assertThat(tiers.store.calls.getFirst().copies()).hasSize(expected);
      tiers.store.succeed();
      tiers.passTime(FLUSH);
    }
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(handle.progress().completed()).isEqualTo(150);
  }

  @Test
  void higherPriorityOvertakesWhatStillWaits() {
    var tiers = new TestTiers();
    tiers.offload(0, 8);
    tiers.offload(10, 8);
    tiers.offload(20, 64);
    tiers.offload(100, 60);
    tiers.enqueue(OffloadRequest.weak(tiers.cached(200, 8)).withPriority(5));
    var order = new ArrayList<Integer>();
    while (!tiers.store.calls.isEmpty()) {
      order.add(tiers.store.calls.getFirst().copies().size());
      tiers.store.succeed();
      tiers.passTime(FLUSH);
    }
    // Under way, on deck and batched came first; then the urgent one, then what waited.
    assertThat(order).containsExactly(8, 8, 64, 8, 60);
  }

  @Test
  void whatAnotherIsStoringIsNotAFailure() {
    var tiers = new TestTiers();
    var handle = tiers.offload(0, 8);
    tiers.store.answer(new CopyOutcome.Busy("another server"));
    tiers.passTime(SOON);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(handle.progress().failed()).isZero();
    assertThat(handle.progress().filtered()).isEqualTo(8);
    assertThat(tiers.host.free()).isEqualTo(tiers.host.total());
    assertThat(tiers.registry.has(TestTiers.hash(0), Tier.HOST)).isFalse();
  }

  @Test
  void failedTransferRegistersNothing() {
    var tiers = new TestTiers();
    var handle = tiers.offload(0, 8);
    tiers.store.answer(new CopyOutcome.Failed("disk on fire"));
    tiers.passTime(SOON);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.FAILED);
    assertThat(handle.result().orElseThrow().failed()).hasSize(8);
    assertThat(tiers.host.free()).isEqualTo(tiers.host.total());
    assertThat(tiers.registry.has(TestTiers.hash(0), Tier.HOST)).isFalse();
  }

  @Test
  void outcomesArePairedWithTheirOwnBlocks() {
    var tiers = new TestTiers();
    var handle = tiers.offload(0, 8);
    var outcomes = new ArrayList<CopyOutcome>();
    for (int i = 0; i < 8; i++) {
      outcomes.add(i % 3 == 0 ? new CopyOutcome.Failed("no " + i) : CopyOutcome.COPIED);
    }
    tiers.store.answer(tiers.store.calls.remove(), outcomes);
    tiers.passTime(SOON);
    var result = handle.result().orElseThrow();
    assertThat(result.failed())
        .containsExactly(TestTiers.hash(0), TestTiers.hash(3), TestTiers.hash(6));
    for (int i = 0; i < 8; i++) {
      assertThat(tiers.registry.has(TestTiers.hash(i), Tier.HOST)).isEqualTo(i % 3 != 0);
    }
  }

  @Test
  void weakBlocksThatWereEvictedAreReportedAndTheHandleEnds() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 4, 16);
    var handle = tiers.offload(0, 4);
    tiers.device.release(tiers.device.allocate(3).orElseThrow());
    tiers.passTime(FLUSH);
    assertThat(handle.progress().evicted()).isEqualTo(3);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);

    var gone = tiers.offload(10, 4);
    tiers.device.clear();
    tiers.passTime(FLUSH);
    assertThat(gone.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(gone.progress().evicted()).isEqualTo(4);
  }

  @Test
  void blocksAreHeldFromUpgradeToEndAndNotBefore() {
    var tiers = new TestTiers();
    var handle = tiers.offload(0, 2);
    assertThat(tiers.device.held()).isZero();
    tiers.passTime(FLUSH);
    assertThat(tiers.device.held()).isEqualTo(2);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(tiers.device.held()).isZero();
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
  }

  @Test
  void preconditionsOfAllMembersAreHonouredWhenBatchesMix() {
    var tiers = new TestTiers();
    var step = new Precondition();
    var late = tiers.enqueue(OffloadRequest.weak(tiers.cached(0, 4)).after(step));
    tiers.offload(10, 8);
    assertThat(tiers.store.calls.getFirst().copies()).hasSize(8);
    assertThat(late.status()).isEqualTo(TransferHandle.Status.QUEUED);
    step.meet();
    tiers.passTime(FLUSH);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(tiers.store.calls.getFirst().copies()).hasSize(4);
  }

  @Test
  void failedPreconditionFailsItsBlocks() {
    var tiers = new TestTiers();
    var step = new Precondition();
    var handle = tiers.enqueue(OffloadRequest.strong(tiers.register(0, 4)).after(step));
    step.fail("the step threw");
    var outcome = handle.result().orElseThrow().blocks().getFirst().outcome();
    assertThat(outcome).isEqualTo(new BlockOutcome.Failed("precondition failed: the step threw"));
    assertThat(tiers.device.held()).isZero();
  }

  @Test
  void preconditionThatNeverSettlesEndsAtTheDeadline() {
    var tiers = new TestTiers();
    var handle = tiers.enqueue(OffloadRequest.weak(tiers.cached(0, 4)).after(new Precondition()));
    tiers.loop.run(100);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.FAILED);
    assertThat(tiers.loop.nanos()).isEqualTo(PipelineSettings.Limits.DEFAULT.deadline().toNanos());
  }

  @Test
  void storeThatNeverAnswersCostsNoHandleItsEndAndKeepsOnlyTheBlocksItWasGiven() {
    var tiers = new TestTiers();
    var stuck = tiers.offload(0, 8);
    var behind = tiers.offload(10, 8);
    var waiting = tiers.offload(20, 8);
    tiers.passTime(PipelineSettings.Limits.DEFAULT.deadline().plus(FLUSH));
    assertThat(stuck.status()).isEqualTo(TransferHandle.Status.FAILED);
    assertThat(waiting.status()).isEqualTo(TransferHandle.Status.FAILED);
    assertThat(behind.status()).isEqualTo(TransferHandle.Status.FAILED);
    assertThat(behind.result().orElseThrow().blocks().getFirst().outcome())
        .isEqualTo(new BlockOutcome.Failed("no transfer to HOST ended before the deadline"));
    assertThat(tiers.settlement.pending()).isZero();
    // The store may still read the blocks it was given, and no others.
    assertThat(tiers.device.held()).isEqualTo(8);
    assertThat(tiers.pipeline.load().overdue()).isEqualTo(8);
    assertThat(tiers.pipeline.load().onDeck()).isZero();
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(tiers.store.calls).isEmpty();
    assertThat(tiers.registry.has(TestTiers.hash(0), Tier.HOST)).isFalse();
    assertThat(tiers.device.held() + tiers.host.held()).isZero();
    assertThat(tiers.pipeline.load().isEmpty()).isTrue();
  }

  @Test
  void batchOnDeckThatStartsInTimeOutlivesItsDeadline() {
    var tiers = new TestTiers();
    tiers.offload(0, 8);
    var behind = tiers.offload(10, 8);
    tiers.passTime(PipelineSettings.Limits.DEFAULT.deadline().minus(SOON));
    tiers.store.succeed();
    tiers.passTime(SOON.multipliedBy(2));
    assertThat(behind.status()).isEqualTo(TransferHandle.Status.TRANSFERRING);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(behind.status()).isEqualTo(TransferHandle.Status.COMPLETE);
  }

  @Test
  void requestThatIsLargerThanTheQueueIsABugAndNotBackPressure() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 8193, 16);
    assertThatThrownBy(() -> tiers.offload(0, 8193))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "8193 blocks in one request, at most 8192 may wait for HOST: split it, or raise"
                + " queueBlocksMax");
    assertThat(tiers.pipeline.totals().refused()).isZero();
    // Who has to do with what fits gets that.
    var weak = OffloadRequest.weak(tiers.cached(0, 8193));
    var handle = tiers.pipeline.enqueueWhatFits(weak).orElseThrow();
    assertThat(handle.progress().submitted()).isEqualTo(8192);
    assertThat(tiers.pipeline.totals().refused()).isEqualTo(1);
  }

  @Test
  void cancellationLooksOnlyAtWhatWasCancelled() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 8192, 64);
    for (int i = 0; i < 16; i++) tiers.offload(i, 1);
    var waiting = new ArrayList<TransferHandle>();
    for (int i = 100; i < 8000; i++) waiting.add(tiers.offload(i, 1));
    waiting.get(4000).cancel();
    waiting.get(7000).cancel();
    tiers.passTime(PipelineSettings.DEFAULT.sweepInterval());
    assertThat(waiting.get(4000).status()).isEqualTo(TransferHandle.Status.CANCELLED);
    assertThat(waiting.get(7000).status()).isEqualTo(TransferHandle.Status.CANCELLED);
    assertThat(tiers.pipeline.swept()).isEqualTo(2);
    // So do deadlines: each container is looked at once.
    tiers.passTime(PipelineSettings.Limits.DEFAULT.deadline());
    assertThat(waiting).allMatch(handle -> handle.status().isFinal());
    assertThat(tiers.pipeline.swept()).isLessThanOrEqualTo(2 + waiting.size());
  }

  @Test
  void fullQueueRefusesAndSaysHowMuchRoomThereIs() {
    var limits =
        new PipelineSettings.Limits(
            10, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofMillis(1));
    var tiers =
        new TestTiers(
            new PipelineSettings(
                PipelineSettings.Batching.DEFAULT,
                Duration.ofMillis(1),
                Duration.ofMillis(1),
                1,
                limits),
            OffloadPolicy.passAll());
    var step = new Precondition();
    tiers.enqueue(OffloadRequest.weak(tiers.cached(0, 7)).after(step));
    assertThat(tiers.pipeline.room()).isEqualTo(3);
    assertThat(tiers.pipeline.enqueue(OffloadRequest.weak(tiers.cached(10, 4)))).isEmpty();
    assertThat(tiers.pipeline.totals().refused()).isEqualTo(4);
    assertThat(tiers.pipeline.enqueue(OffloadRequest.weak(tiers.cached(10, 3)))).isPresent();
  }

  @Test
  void fullDestinationIsTriedAgainUntilThereIsRoom() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 32, 8);
    var occupied = tiers.host.allocate(8).orElseThrow();
    var handle = tiers.offload(0, 8);
    tiers.passTime(Duration.ofSeconds(1));
    assertThat(tiers.store.calls).isEmpty();
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.TRANSFERRING);
    tiers.host.release(occupied);
    tiers.passTime(PipelineSettings.Limits.DEFAULT.retryInterval());
    assertThat(tiers.store.calls).hasSize(1);
  }

  @Test
  void destinationThatStaysFullFailsTheTransferAtItsDeadline() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 32, 8);
    assertThat(tiers.host.allocate(8)).isPresent();
    var handle = tiers.offload(0, 8);
    tiers.loop.run(100_000);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.FAILED);
    assertThat(tiers.device.held()).isZero();
  }

  @Test
  void batchIsNeverLargerThanTheTierBelow() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.passAll(), 32, 3);
    var handle = tiers.offload(0, 8);
    for (int i = 0; i < 3; i++) {
      assertThat(tiers.store.calls.getFirst().copies()).hasSizeLessThanOrEqualTo(3);
      tiers.store.succeed();
      tiers.passTime(FLUSH);
    }
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
  }

  @Test
  void transfersRunSideBySideUpToTheirMaximumAndStartInOrder() {
    var settings =
        new PipelineSettings(
            PipelineSettings.Batching.DEFAULT,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            2,
            PipelineSettings.Limits.DEFAULT);
    var tiers = new TestTiers(settings, OffloadPolicy.passAll());
    for (int i = 0; i < 4; i++) tiers.offload(i * 10, 8);
    assertThat(tiers.store.calls)
        .extracting(call -> call.copies().getFirst().block().hash())
        .containsExactly(TestTiers.hash(0), TestTiers.hash(10));
    assertThat(tiers.pipeline.load().transfers()).isEqualTo(2);
    assertThat(tiers.pipeline.load().onDeck()).isEqualTo(1);
  }

  @Test
  void chainCarriesBlocksOnWithAHandleForEachHopAndSettlesAsAWhole() {
    var tiers = new TestTiers();
    var disk = tiers.pool(Tier.DISK, 64);
    var slow = new SlowStore(tiers.loop, Duration.ofMillis(50), 1_000_000);
    var down =
        new OffloadPipeline(
            tiers.loop,
            PipelineSettings.DEFAULT,
            OffloadPolicy.presence(),
            new OffloadPipeline.Edge(disk, slow, null),
            tiers.settlement);
    tiers.pipeline.chain(down);
    var handle = tiers.offload(0, 8);
    var settled = new ArrayList<Long>();
    tiers.settlement.whenSettled(() -> settled.add(tiers.loop.nanos()));
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(settled).isEmpty();
    var hop = handle.next().getFirst();
    assertThat(hop.status()).isEqualTo(TransferHandle.Status.TRANSFERRING);
    tiers.loop.run(1000);
    assertThat(hop.progress().completed()).isEqualTo(8);
    assertThat(settled).containsExactly(58_000_000L);
    assertThat(disk.cached()).isEqualTo(8);
    assertThat(tiers.registry.tiers(TestTiers.hash(0)))
        .containsExactly(Tier.DEVICE, Tier.HOST, Tier.DISK);
  }

  @Test
  void cancellingReachesTheHopsThatCarryTheBlocksOn() {
    var tiers = new TestTiers();
    var down = chained(tiers, new HeldStore(tiers.loop), PipelineSettings.Limits.DEFAULT);
    var handle = tiers.offload(0, 4);
    tiers.passTime(FLUSH);
    tiers.store.succeed();
    tiers.passTime(SOON);
    var hop = handle.next().getFirst();
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(hop.status()).isEqualTo(TransferHandle.Status.QUEUED);
    handle.cancel();
    tiers.passTime(FLUSH);
    assertThat(hop.status()).isEqualTo(TransferHandle.Status.CANCELLED);
    // What is upgraded when it is cancelled goes to its end, and no further down.
    var upgraded = tiers.offload(10, 8);
    upgraded.cancel();
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(upgraded.progress().completed()).isEqualTo(8);
    assertThat(upgraded.next()).isEmpty();
    assertThat(down.load().isEmpty()).isTrue();
  }

  @Test
  void hopThatIsRefusedForRoomIsToldAndCounted() {
    var tiers = new TestTiers();
    var limits =
        new PipelineSettings.Limits(
            6, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofMillis(1));
    var down = chained(tiers, new HeldStore(tiers.loop), limits);
    var handle = tiers.offload(0, 8);
    tiers.store.succeed();
    tiers.passTime(SOON);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(handle.next().getFirst().progress().submitted()).isEqualTo(6);
    assertThat(handle.refusedBelow()).isEqualTo(2);
    assertThat(down.totals().refused()).isEqualTo(2);
  }

  private static OffloadPipeline chained(
      TestTiers tiers, TierStore store, PipelineSettings.Limits limits) {
    var settings =
        new PipelineSettings(
            PipelineSettings.Batching.DEFAULT,
            Duration.ofMillis(1),
            Duration.ofMillis(10),
            1,
            limits);
    var down =
        new OffloadPipeline(
            tiers.loop,
            settings,
            OffloadPolicy.presence(),
            new OffloadPipeline.Edge(tiers.pool(Tier.DISK, 64), store, null),
            tiers.settlement);
    tiers.pipeline.chain(down);
    return down;
  }

  @Test
  void emptyPipelineLeavesTheLoopIdle() {
    var tiers = new TestTiers();
    tiers.offload(0, 3).cancel();
    tiers.loop.run(10);
    assertThat(tiers.loop.pending()).isZero();
    assertThat(tiers.pipeline.load().isEmpty()).isTrue();
  }

  @Test
  void progressAddsUpAtEveryMoment() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.presence(), 64, 64);
    tiers.offload(0, 8);
    var again = tiers.offload(0, 8);
    assertThat(again.progress()).isEqualTo(new TransferHandle.Counts(8, 0, 0, 0, 8, 0));
    assertThat(again.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(again.result().orElseThrow().filtered()).hasSize(8);
  }

  @Test
  void settingsAreTheDocumentedOnesAndChecked() {
    var settings = PipelineSettings.DEFAULT;
    assertThat(settings.batch())
        .isEqualTo(new PipelineSettings.Batching(8, 64, Duration.ofMillis(10)));
    assertThat(settings.policyTimeout()).isEqualTo(Duration.ofMillis(100));
    assertThat(settings.sweepInterval()).isEqualTo(Duration.ofMillis(10));
    assertThat(settings.transfersMax()).isEqualTo(1);
    assertThatThrownBy(() -> new PipelineSettings.Batching(9, 8, FLUSH))
        .hasMessage("batches of 9 to 8 blocks, expected 1 or more, rising");
    assertThatThrownBy(() -> new PipelineSettings.Batching(1, 8, Duration.ZERO))
        .hasMessage("flushInterval is PT0S, expected more than 0");
    assertThatThrownBy(() -> OffloadRequest.weak(List.of())).hasMessage("no blocks to offload");
  }
}
