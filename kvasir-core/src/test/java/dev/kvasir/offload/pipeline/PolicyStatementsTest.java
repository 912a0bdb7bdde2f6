package dev.kvasir.offload.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.offload.TestTiers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The six policy statements of the offload module, on the pipeline itself. */
class PolicyStatementsTest {
  private static final Duration SWEEP = PipelineSettings.DEFAULT.sweepInterval();
  private static final Duration FLUSH = PipelineSettings.Batching.DEFAULT.flushInterval();

  @Test
  void p1ContainerIsTheUnitOfCancellation() {
    var tiers = new TestTiers();
    var kept = tiers.offload(0, 3);
    var cancelled = tiers.offload(10, 3);
    cancelled.cancel();
    tiers.passTime(FLUSH.plus(SWEEP));
    assertThat(cancelled.status()).isEqualTo(TransferHandle.Status.CANCELLED);
    assertThat(cancelled.progress().cancelled()).isEqualTo(3);
    assertThat(tiers.store.calls.getFirst().copies()).hasSize(3);
    tiers.store.succeed();
    tiers.loop.run(100);
    assertThat(kept.status()).isEqualTo(TransferHandle.Status.COMPLETE);
  }

  @Test
  void p2TokenTravelsWithItsContainerThroughEveryStage() {
    // Evaluating: the policy has not answered.
    var evaluating = new TestTiers(PipelineSettings.DEFAULT, (candidate, answer) -> {});
    assertCancelled(evaluating, evaluating.offload(0, 2), Duration.ZERO);
    // Waiting for the precondition.
    var awaiting = new TestTiers();
    var never = new Precondition();
    assertCancelled(
        awaiting,
        awaiting.enqueue(OffloadRequest.weak(awaiting.cached(0, 2)).after(never)),
        Duration.ZERO);
    // In the batcher's queue.
    var queued = new TestTiers();
    assertCancelled(queued, queued.offload(0, 2), SWEEP.multipliedBy(2));
    // In a batch that waits for the executor: one batch moves, one is on deck, one waits.
    var batched = new TestTiers();
    batched.offload(0, 8);
    batched.offload(10, 8);
    var waiting = batched.offload(20, 8);
    assertThat(batched.pipeline.load().onDeck()).isEqualTo(1);
    assertCancelled(batched, waiting, SWEEP.multipliedBy(2));
  }

  @Test
  void p3UpgradeIsTheCommitmentBoundary() {
    var tiers = new TestTiers();
    var moving = tiers.offload(0, 8);
    var onDeck = tiers.offload(10, 8);
    moving.cancel();
    onDeck.cancel();
    tiers.passTime(SWEEP.multipliedBy(3));
    assertThat(moving.status()).isEqualTo(TransferHandle.Status.TRANSFERRING);
    assertThat(onDeck.status()).isEqualTo(TransferHandle.Status.TRANSFERRING);
    tiers.store.succeed();
    tiers.passTime(SWEEP);
    tiers.store.succeed();
    tiers.loop.run(100);
    assertThat(moving.progress().completed()).isEqualTo(8);
    assertThat(onDeck.progress().completed()).isEqualTo(8);
    assertThat(onDeck.status()).isEqualTo(TransferHandle.Status.COMPLETE);
  }

  @Test
  void p4SweepComesImmediatelyBeforeTheUpgrade() {
    var tiers = new TestTiers();
    tiers.offload(0, 8);
    tiers.offload(10, 8);
    var third = tiers.offload(20, 8);
    third.cancel();
    // The executor takes the third batch before the sweeper's next turn.
    tiers.store.succeed();
    tiers.loop.runFor(Duration.ofNanos(1));
    assertThat(third.status()).isEqualTo(TransferHandle.Status.CANCELLED);
    assertThat(tiers.host.cached()).isEqualTo(8);
    tiers.store.succeed();
    tiers.loop.run(100);
    assertThat(tiers.store.calls).isEmpty();
  }

  @Test
  void p5BlocksOfAllContainersAreOneFlatListAfterTheUpgrade() {
    var tiers = new TestTiers();
    var first = tiers.offload(0, 3);
    var second = tiers.offload(10, 2);
    var third = tiers.offload(20, 3);
    assertThat(tiers.store.calls).hasSize(1);
    assertThat(tiers.store.calls.getFirst().copies())
        .extracting(copy -> copy.block().hash())
        .containsExactly(
            TestTiers.hash(0),
            TestTiers.hash(1),
            TestTiers.hash(2),
            TestTiers.hash(10),
            TestTiers.hash(11),
            TestTiers.hash(20),
            TestTiers.hash(21),
            TestTiers.hash(22));
    tiers.store.succeed();
    tiers.loop.run(100);
    assertThat(List.of(first, second, third))
        .extracting(TransferHandle::status)
        .containsOnly(TransferHandle.Status.COMPLETE);
  }

  @Test
  void p6AwaiterTakesWhateverComesFirst() {
    var tiers = new TestTiers();
    var pass = new Precondition();
    var met = tiers.enqueue(OffloadRequest.weak(tiers.cached(0, 8)).after(pass));
    var never = new Precondition();
    var cancelled = tiers.enqueue(OffloadRequest.strong(tiers.register(20, 8)).after(never));
    assertThat(tiers.device.held()).isEqualTo(8);
    cancelled.cancel();
    assertThat(cancelled.status()).isEqualTo(TransferHandle.Status.CANCELLED);
    assertThat(tiers.device.held()).isZero();
    pass.meet();
    assertThat(met.status()).isEqualTo(TransferHandle.Status.TRANSFERRING);
    never.meet();
    assertThat(cancelled.progress().cancelled()).isEqualTo(8);
    tiers.store.succeed();
    tiers.loop.run(100);
    assertThat(tiers.host.cached()).isEqualTo(8);
  }

  /** Cancelled before its upgrade: all is released, and confirmed in time. */
  private static void assertCancelled(TestTiers tiers, TransferHandle handle, Duration within) {
    int submitted = handle.progress().submitted();
    handle.cancel();
    handle.cancel();
    tiers.passTime(within);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.CANCELLED);
    assertThat(handle.progress().cancelled()).isEqualTo(submitted);
    while (!tiers.store.calls.isEmpty()) {
      tiers.store.succeed();
      tiers.loop.run(1000);
    }
    tiers.loop.run(1000);
    assertThat(tiers.pipeline.load().isEmpty()).isTrue();
    assertThat(tiers.device.held()).isZero();
    assertThat(tiers.host.held()).isZero();
    assertThat(tiers.settlement.pending()).isZero();
  }
}
