package dev.kvasir.gpu.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CopyWay;
import dev.kvasir.gpu.CudaDevice.Urgency;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.StubCuda;
import dev.kvasir.offload.pipeline.Precondition;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The device store on a driver without a GPU, which copies only as often as it is asked. */
@Tag("all")
class DeviceStoreTest {
  private static final int BLOCKS = 300;
  private static final DeviceLayout WHOLE = DeviceLayout.contiguous(BLOCKS, 16 << 10);
  private static final DeviceLayout LAYERS = new DeviceLayout(BLOCKS, 6, 4 << 10);

  @Test
  void blocksComeBackAsTheyWereWhateverTheWayAndTheLayout() throws CudaFailure {
    for (var layout : List.of(WHOLE, LAYERS, DeviceLayout.contiguous(12, 3 << 20))) {
      for (var way : CopyWay.values()) {
        for (var slots : Slots.values()) roundTrip(layout, way, slots);
      }
    }
  }

  private static void roundTrip(DeviceLayout layout, CopyWay way, Slots slots) throws CudaFailure {
    try (var bench = new DeviceBench(layout, only(way))) {
      var copies = slots.copies(layout.blocks());
      for (var copy : copies) bench.fill(copy.above(), copy.block().hash().first());
      assertThat(bench.caller.store(bench.store, copies)).containsOnly(CopyOutcome.COPIED);
      for (var copy : copies) {
        TestBlocks.check(bench.host.slot(copy.below()), copy.block().hash().first());
      }
      for (int slot = 0; slot < layout.blocks(); slot++) bench.wipe(slot);
      assertThat(bench.caller.load(bench.store, copies)).containsOnly(CopyOutcome.COPIED);
      for (var copy : copies) bench.check(copy.above(), copy.block().hash().first());
      var stats = bench.store.stats();
      assertThat(
              Map.of(
                  CopyWay.RUNS, stats.runs(),
                  CopyWay.STAGED, stats.staged(),
                  CopyWay.BATCH, stats.batch(),
                  CopyWay.DIRECT, stats.direct()))
          .as("%s", way)
          .satisfies(chunks -> assertThat(chunks.get(way)).isPositive())
          .satisfies(
              chunks ->
                  assertThat(chunks.values().stream().mapToLong(n -> n).sum())
                      .isEqualTo(chunks.get(way)));
      assertThat(stats.blocksStored()).isEqualTo(copies.size());
      assertThat(stats.blocksLoaded()).isEqualTo(copies.size());
    }
  }

  /** Arrangement of the slots of the copies. */
  private enum Slots {
    SIDE_BY_SIDE,
    SCATTERED,
    IN_GROUPS;

    List<BlockCopy> copies(int blocks) {
      var random = new Random(5);
      var above = new ArrayList<Integer>();
      for (int i = 0; i < blocks; i++) above.add(i);
      var below = new ArrayList<>(above);
      if (this == SCATTERED) Collections.shuffle(above, random);
      if (this == SCATTERED) Collections.shuffle(below, random);
      if (this == IN_GROUPS) below.removeIf(slot -> slot % 7 == 3);
      var copies = new ArrayList<BlockCopy>();
      for (int i = 0; i < below.size(); i++) {
        copies.add(new BlockCopy(TestBlocks.block(1000 + i), above.get(i), below.get(i)));
      }
      return copies;
    }
  }

  @Test
  void aSlotTakesPartInOneCopyAtATime() throws CudaFailure {
    try (var bench = new DeviceBench(WHOLE, only(CopyWay.BATCH))) {
      for (int slot = 0; slot < 3; slot++) bench.fill(slot, slot);
      var outcomes = bench.caller.store(bench.store, List.of(copy(0, 5), copy(0, 6), copy(1, 5)));
      assertThat(outcomes).hasSize(3).first().isEqualTo(CopyOutcome.COPIED);
      assertThat(outcomes.get(1).toString()).contains("slot 0 above is in use");
      assertThat(outcomes.get(2).toString()).contains("slot 5 is being written");
      var loads = bench.caller.load(bench.store, List.of(copy(7, 5), copy(8, 5)));
      assertThat(loads).hasSize(2).containsOnly(CopyOutcome.COPIED);
      bench.check(7, 0);
      bench.check(8, 0);
    }
  }

  @Test
  void whatDoesNotFitInTheQueueFailsAtOnceAndOnlyThat() throws CudaFailure {
    try (var bench = new DeviceBench(StubCuda.fresh(), WHOLE, only(CopyWay.RUNS), 4)) {
      var outcomes = bench.caller.store(bench.store, Slots.SIDE_BY_SIDE.copies(10));
      assertThat(outcomes.subList(0, 4)).containsOnly(CopyOutcome.COPIED);
      assertThat(outcomes.subList(4, 10))
          .allSatisfy(failed -> assertThat(failed.toString()).contains("queue full"));
      assertThat(bench.caller.store(bench.store, Slots.SIDE_BY_SIDE.copies(4)))
          .containsOnly(CopyOutcome.COPIED);
    }
  }

  @Test
  void aCallWithoutCopiesIsAnswered() throws CudaFailure {
    try (var bench = new DeviceBench(WHOLE, only(CopyWay.RUNS))) {
      assertThat(bench.caller.store(bench.store, List.of())).isEmpty();
    }
  }

  @Test
  void aSlotThatIsNotThereIsABug() throws CudaFailure {
    try (var bench = new DeviceBench(WHOLE, only(CopyWay.RUNS))) {
      assertThatThrownBy(() -> bench.store.load(List.of(copy(BLOCKS, 0)), _ -> {}))
          .hasMessageContaining("no slot 300 of 300");
      assertThatThrownBy(() -> bench.store.load(List.of(copy(0, -1)), _ -> {}))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void anUrgentLoadDoesNotWaitForALongOffload() throws CudaFailure {
    try (var bench = new DeviceBench(DeviceLayout.contiguous(40, 3 << 20), only(CopyWay.BATCH))) {
      var order = new ArrayList<String>();
      var both = new CompletableFuture<List<String>>();
      bench.caller.loop.execute(
          () -> {
            bench.store.store(Slots.SCATTERED.copies(39), _ -> add(order, "offload", both));
            bench.store.load(List.of(copy(39, 39)), _ -> add(order, "onboarding", both));
          });
      assertThat(Caller.await(both)).containsExactly("onboarding", "offload");
    }
  }

  private static void add(List<String> order, String what, CompletableFuture<List<String>> both) {
    order.add(what);
    if (order.size() == 2) both.complete(order);
  }

  @Test
  void aCopyThatTheDriverRefusesFailsItsCallAndNoOther() throws CudaFailure {
    try (var bench = new DeviceBench(WHOLE, only(CopyWay.BATCH))) {
      bench.stub.fail("cuMemcpyBatchAsync_v2", 1, 0);
      assertThat(bench.caller.store(bench.store, Slots.SCATTERED.copies(20)))
          .hasSize(20)
          .allSatisfy(failed -> assertThat(failed.toString()).contains("cuMemcpyBatchAsync_v2"));
      assertThat(bench.store.lost()).isNull();
      assertThat(bench.caller.store(bench.store, Slots.SCATTERED.copies(20)))
          .containsOnly(CopyOutcome.COPIED);
      assertThat(bench.store.stats().blocksFailed()).isEqualTo(20);
    }
  }

  @Test
  void whenTheContextIsLostEverythingIsAnsweredAndSaysSo() throws CudaFailure {
    try (var bench = new DeviceBench(StubCuda.built(), WHOLE, only(CopyWay.BATCH), 4096)) {
      try (var stream = bench.device.stream(Urgency.USUAL)) {
        bench.stub.hold(stream);
        var waits = bench.store.after(stream);
        bench.stub.fail("cuEventQuery", 719, 3);
        assertThat(bench.caller.store(bench.store, Slots.SCATTERED.copies(BLOCKS)))
            .allSatisfy(failed -> assertThat(failed.toString()).contains("is lost"));
        assertThat(bench.caller.load(bench.store, List.of(copy(0, 0))).toString())
            .contains("GPU 0 (Stub) is lost", "719", "restart the process");
        assertThat(bench.store.lost()).contains("is lost");
        bench.settle(waits);
        assertThat(waits.state()).isEqualTo(Precondition.State.FAILED);
        assertThat(waits.reason()).contains("is lost");
        bench.settle(bench.store.after(bench.device.timedEvent()));
      } catch (CudaFailure expected) {
        assertThat(expected.isContextLost()).isTrue();
      }
    }
  }

  @Test
  void aPreconditionIsMetOnceTheStreamHasComeThere() throws CudaFailure {
    try (var bench = new DeviceBench(WHOLE, only(CopyWay.RUNS));
        var stream = bench.device.stream(Urgency.USUAL)) {
      bench.stub.hold(stream);
      bench.kernels.fill(stream, bench.memory.address(0, 7), bench.words(), 42);
      var pass = bench.store.after(stream);
      assertThat(bench.caller.store(bench.store, List.of(copy(1, 1))))
          .containsExactly(CopyOutcome.COPIED);
      assertThat(pass.state()).isEqualTo(Precondition.State.PENDING);
      bench.stub.letGo();
      bench.settle(pass);
      assertThat(pass.state()).isEqualTo(Precondition.State.MET);
      assertThat(bench.caller.store(bench.store, List.of(copy(7, 7))))
          .containsExactly(CopyOutcome.COPIED);
      CheckKernels.check(bench.host.slot(7), 42);
    }
  }

  @Test
  void anEventThatItsMakerClosedFailsItsPreconditionAndNothingElse() throws CudaFailure {
    try (var bench = new DeviceBench(WHOLE, only(CopyWay.RUNS));
        var stream = bench.device.stream(Urgency.USUAL)) {
      bench.stub.hold(stream);
      Precondition waits;
      try (var event = bench.device.event()) {
        stream.record(event);
        waits = bench.store.after(event);
      }
      bench.settle(waits);
      assertThat(waits.state()).isEqualTo(Precondition.State.FAILED);
      assertThat(waits.reason()).contains("closed");
      // The thread that looked at the event goes on.
      bench.stub.letGo();
      assertThat(bench.caller.store(bench.store, List.of(copy(1, 1))))
          .containsExactly(CopyOutcome.COPIED);
      assertThat(bench.store.lost()).isNull();
      bench.settle(bench.store.after(stream));
    }
  }

  @Test
  void aLoadWritesItsSlotOnlyAfterTheKernelsThatStillReadIt() throws CudaFailure {
    for (var way : CopyWay.values()) {
      try (var bench = new DeviceBench(WHOLE, only(way));
          var stream = bench.device.stream(Urgency.USUAL);
          var wrong = bench.device.allocate(Long.BYTES)) {
        long slot = bench.memory.address(0, 5);
        bench.zero(wrong.value());
        bench.kernels.fill(stream, slot, bench.words(), 42);
        bench.stub.hold(stream);
        bench.kernels.check(stream, slot, bench.words(), 42, wrong.value());
        TestBlocks.fill(bench.host.slot(9), 5, 1);
        var loaded = new CompletableFuture<List<CopyOutcome>>();
        bench.caller.loop.execute(
            () -> {
              try {
                bench.device.bind();
                bench.store.loadAfter(stream);
                bench.store.load(List.of(copy(5, 9)), loaded::complete);
              } catch (CudaFailure failure) {
                loaded.completeExceptionally(failure);
              }
            });
        // A copy the other way passes, and the load does not.
        assertThat(bench.caller.store(bench.store, List.of(copy(1, 1))))
            .containsExactly(CopyOutcome.COPIED);
        assertThat(loaded).isNotDone();
        bench.stub.letGo();
        assertThat(Caller.await(loaded)).containsExactly(CopyOutcome.COPIED);
        stream.await();
        assertThat(bench.word(wrong.value())).as("words written too early by %s", way).isZero();
        bench.check(5, 5);
      }
    }
  }

  @Test
  void aClosedStoreAnswersAndLeavesNothingBehind() throws CudaFailure {
    var bench = new DeviceBench(WHOLE, only(CopyWay.DIRECT));
    var begun = bench.caller.begin(bench.store, Slots.SCATTERED.copies(BLOCKS));
    bench.store.close();
    assertThat(Caller.await(begun)).hasSize(BLOCKS);
    assertThat(bench.caller.store(bench.store, List.of(copy(0, 0))).toString()).contains("closed");
    bench.close();
    assertThat(bench.stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void memoriesOfOtherBlocksDoNotMatch() throws CudaFailure {
    try (var bench = new DeviceBench(WHOLE, only(CopyWay.RUNS));
        var other = new HostMemory("other", 4, 4096)) {
      assertThatThrownBy(() -> DeviceStore.requireMatch(bench.memory, other))
          .hasMessage("GPU 0 (Stub) has blocks of 16384 bytes, other of 4096");
    }
  }

  @Test
  void layoutsKnowWhereTheirBytesLie() {
    assertThat(LAYERS.blockBytes()).isEqualTo(24 << 10);
    assertThat(LAYERS.regionBytes()).isEqualTo(300L * 4096);
    assertThat(WHOLE.at(3)).isEqualTo(3L * 16384);
    assertThatThrownBy(() -> new DeviceLayout(1, 5000, 16)).hasMessageContaining("5000 parts");
    assertThatThrownBy(() -> DeviceLayout.contiguous(0, 16))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(DeviceLane.blocksMax(CopyWay.DIRECT, WHOLE)).isEqualTo(1024);
    assertThat(DeviceLane.blocksMax(CopyWay.RUNS, WHOLE)).isEqualTo(2048);
    var large = new DeviceLayout(9, 160, 16 << 10);
    assertThat(DeviceLane.blocksMax(CopyWay.STAGED, large)).isEqualTo(6);
    assertThat(DeviceLane.blocksMax(CopyWay.RUNS, DeviceLayout.contiguous(9, 64 << 20))).isOne();
    assertThat(DeviceLane.canStage(DeviceLayout.contiguous(9, 1000))).isFalse();
  }

  /** Costs with which that way is always the cheapest. */
  private static Map<Direction, CopyCosts> only(CopyWay way) {
    double never = CopyCosts.NEVER;
    var costs =
        switch (way) {
          case RUNS -> new CopyCosts(1, 1, never, never, never);
          case STAGED -> new CopyCosts(1e9, 1e5, 1e-3, never, never);
          case BATCH -> new CopyCosts(1e9, 1e9, never, 1, never);
          case DIRECT -> new CopyCosts(1e9, 1e9, never, never, 1);
        };
    var both = new EnumMap<Direction, CopyCosts>(Direction.class);
    for (var direction : Direction.values()) both.put(direction, costs);
    return both;
  }

  private static BlockCopy copy(int above, int below) {
    return new BlockCopy(TestBlocks.block(above), above, below);
  }
}
