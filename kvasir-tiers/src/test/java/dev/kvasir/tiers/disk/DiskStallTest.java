package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.DiskFormat;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests what a disk store does while one of its operations takes long, or does not return at all.
 */
@Timeout(600)
class DiskStallTest {
  private static final int BLOCKS = 16;
  private static final int BLOCK_BYTES = 4096;

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  private static DiskSettings settings(Ack ack) {
    return PowerLossTest.settings(BLOCKS, BLOCK_BYTES).with(ack);
  }

  @Test
  void loadsAndStoresAreAnsweredWhileTheIndexIsWrittenAnew() throws Exception {
    for (var ack : Ack.values()) {
      var folder = new HookedFolder(new LossyFolder());
      var begun = new CountDownLatch(1);
      var gate = new CountDownLatch(1);
      try (var shelf = new Shelf(settings(ack), folder)) {
        assertThat(shelf.store(1, 100)).isEqualTo(CopyOutcome.COPIED);
        folder.hook(
            (operation, name) -> {
              if (!name.equals(IndexLog.NAME_NEW) || !operation.equals("write")) return;
              begun.countDown();
              pass(gate);
            });
        long before = shelf.store.stats().checkpoints();
        long key = 1000;
        // A full log has to wait for the checkpoint, which must have begun before.
        while (!begun.await(2, TimeUnit.MILLISECONDS)) {
          assertThat(shelf.store(2, ++key)).isEqualTo(CopyOutcome.COPIED);
        }
        // Neither the lock of the index nor the thread that syncs is taken up by the checkpoint.
        assertThat(shelf.load(1, 100)).isEqualTo(CopyOutcome.COPIED);
        assertThat(shelf.load(2, key)).isEqualTo(CopyOutcome.COPIED);
        assertThat(shelf.store(3, 300)).isEqualTo(CopyOutcome.COPIED);
        assertThat(shelf.store.stats().checkpoints()).isEqualTo(before);
        gate.countDown();
        while (shelf.store.stats().checkpoints() == before) Thread.onSpinWait();
        shelf.assertHolds(Map.of(1, 100L, 2, key, 3, 300L));
      }
    }
  }

  @Test
  void whatIsNotedWhileTheIndexIsWrittenAnewSurvivesAPowerLossAtAnyPoint() {
    Seeds.each(
        300 * Seeds.scale(),
        random -> {
          try {
            checkpointAndLosePower(random);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  /** Stores, removes and forgets in the midst of a checkpoint, and ends at some operation. */
  private static void checkpointAndLosePower(RandomGenerator random) throws IOException {
    var lossy = new LossyFolder();
    var format = new DiskFormat(BLOCK_BYTES, 0);
    var folder = new HookedFolder(lossy);
    var index = new DiskIndex(folder, format, BLOCKS);
    index.checkpoint();
    for (int slot = 0; slot < BLOCKS / 2; slot++) {
      index.put(slot, index.nextGeneration(), TestBlocks.block(slot));
    }
    index.forget(0);
    index.sync();
    var durable = held(index);
    var left = new AtomicInteger(1 + random.nextInt(20));
    var copied = new boolean[1];
    folder.hook(
        (operation, name) -> {
          if (left.decrementAndGet() < 0) throw new LossyFolder.Crash();
          // Others come in until the copy is synced; then the log is locked.
          if (!name.equals(IndexLog.NAME_NEW) || copied[0]) return;
          copied[0] = operation.equals("sync");
          if (random.nextInt(3) > 0) change(index, random, durable);
        });
    try {
      index.checkpoint();
      index.sync();
      durable.clear();
      durable.putAll(held(index));
    } catch (LossyFolder.Crash crash) {
      // The folder is as far as it got.
    }
    var found = new DiskIndex(lossy.afterPowerLoss(random), format, BLOCKS);
    found.replay();
    assertThat(held(found)).containsAllEntriesOf(durable);
  }

  /** Changes one slot, which is durable afterwards or not, as a sync on the way decides. */
  private static void change(DiskIndex index, RandomGenerator random, Map<Integer, Long> durable)
      throws IOException {
    int slot = random.nextInt(BLOCKS);
    durable.remove(slot);
    switch (random.nextInt(3)) {
      case 0 -> index.remove(slot);
      case 1 -> index.forget(slot);
      default -> index.put(slot, index.nextGeneration(), TestBlocks.block(random.nextInt(1000)));
    }
    if (random.nextBoolean()) return;
    index.sync();
    durable.clear();
    durable.putAll(held(index));
  }

  private static Map<Integer, Long> held(DiskIndex index) {
    var held = new TreeMap<Integer, Long>();
    for (var each : index.held()) held.put(each.slot(), each.block().hash().first());
    return held;
  }

  @Test
  void whatIsForgottenWhileTheIndexIsWrittenAnewIsNotInTheNextOne() throws IOException {
    var lossy = new LossyFolder();
    var format = new DiskFormat(BLOCK_BYTES, 0);
    var folder = new HookedFolder(lossy);
    var index = new DiskIndex(folder, format, BLOCKS);
    index.checkpoint();
    for (int slot = 0; slot < 4; slot++) {
      index.put(slot, index.nextGeneration(), TestBlocks.block(slot));
    }
    index.forget(0);
    folder.hook(
        (operation, name) -> {
          if (!operation.equals("sync") || !name.equals(IndexLog.NAME_NEW)) return;
          folder.hook((_, _) -> {});
          index.forget(1);
          index.put(0, index.nextGeneration(), TestBlocks.block(10));
          index.forget(0);
        });
    index.checkpoint();
    assertThat(held(index)).isEqualTo(Map.of(2, 2L, 3, 3L));
    index.checkpoint();
    var found = new DiskIndex(lossy, format, BLOCKS);
    found.replay();
    assertThat(held(found)).isEqualTo(Map.of(2, 2L, 3, 3L));
  }

  @Test
  void aResetIsDurableBeforeItReturnsAndLeavesNoByte() {
    Seeds.each(
        50 * Seeds.scale(),
        random -> {
          try {
            resetAndLosePower(random);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  private static void resetAndLosePower(RandomGenerator random) throws IOException {
    var lossy = new LossyFolder();
    var ack = random.nextBoolean() ? Ack.STORED : Ack.DURABLE;
    try (var shelf = new Shelf(settings(ack), lossy)) {
      for (int slot = 0; slot < BLOCKS; slot++) shelf.store(slot, slot);
      if (random.nextBoolean()) shelf.caller.sync(shelf.store);
      assertThat(shelf.store.reset("generation 7")).isEqualTo(BLOCKS);
      assertThat(shelf.load(3, 3)).isInstanceOf(CopyOutcome.Damaged.class);
      assertThat(lossy.bytes(DiskBlockFile.BLOCKS)).containsOnly(0);
      try (var found = new Shelf(settings(ack), lossy.afterPowerLoss(random))) {
        assertThat(found.store.recovered()).isEmpty();
        assertThat(found.store.note()).isEqualTo("generation 7");
      }
      // It serves on.
      assertThat(shelf.store(5, 50)).isEqualTo(CopyOutcome.COPIED);
      shelf.assertHolds(Map.of(5, 50L));
    }
    try (var found = new Shelf(settings(ack), lossy)) {
      found.assertHolds(Map.of(5, 50L));
      assertThat(found.store.note()).isEqualTo("generation 7");
    }
  }

  @Test
  void whatIsBeingWrittenDuringAResetComesToNothing() throws Exception {
    for (var ack : Ack.values()) {
      var folder = new HookedFolder(new LossyFolder());
      var begun = new CountDownLatch(1);
      var gate = new CountDownLatch(1);
      try (var shelf = new Shelf(settings(ack), folder)) {
        // A durable copy is written, and waits for the disk to be synced.
        var at = ack == Ack.DURABLE ? "sync" : "write";
        folder.hook(
            (operation, name) -> {
              if (!operation.equals(at) || !name.equals(DiskBlockFile.BLOCKS)) return;
              begun.countDown();
              pass(gate);
            });
        var copy = new BlockCopy(TestBlocks.block(1), 0, 0);
        var stuck = shelf.caller.begin(shelf.store, List.of(copy));
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        var reset = Thread.startVirtualThread(() -> resetUnchecked(shelf));
        while (shelf.store.resets() == 0) Thread.onSpinWait();
        gate.countDown();
        assertThat(Caller.await(stuck).getFirst()).isInstanceOf(Failed.class);
        reset.join();
        assertThat(shelf.load(0, 1)).isInstanceOf(CopyOutcome.Damaged.class);
      }
    }
  }

  private static void resetUnchecked(Shelf shelf) {
    try {
      shelf.store.reset("generation 8");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aBlockThatCannotBeReadWhenTheFolderIsOpenedCostsOnlyItself() throws Exception {
    var lossy = new LossyFolder();
    try (var shelf = new Shelf(settings(Ack.STORED), lossy)) {
      shelf.store(0, 7);
      shelf.store(1, 8);
      // The same block in another slot, as a stop before the old one was noted as gone leaves it.
      shelf.store(2, 7);
    }
    lossy.trouble(
        (operation, name) -> {
          if (operation.equals("read") && name.equals(DiskBlockFile.BLOCKS)) {
            throw new IOException("Input/output error");
          }
        });
    try (var shelf = new Shelf(settings(Ack.STORED), lossy)) {
      lossy.trouble((_, _) -> {});
      assertThat(shelf.store.recovered()).extracting(Recovered::slot).containsExactly(0, 1);
      shelf.assertHolds(Map.of(0, 7L, 1, 8L));
    }
  }

  @Test
  void aStoreWhoseWriteDoesNotReturnIsClosedInTime() throws Exception {
    var folder = new HookedFolder(new LossyFolder());
    var gate = new CountDownLatch(1);
    var shelf = new Shelf(settings(Ack.STORED), folder);
    var begun = new CountDownLatch(1);
    folder.hook(
        (_, _) -> {
          begun.countDown();
          pass(gate);
        });
    var copy = new BlockCopy(TestBlocks.block(1), 0, 0);
    var stuck = shelf.caller.begin(shelf.store, List.of(copy));
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    shelf.store.close(Duration.ofMillis(100));
    // The copy has its answer though the write has none, and has it only once.
    assertThat(Caller.await(stuck).getFirst()).isInstanceOf(Failed.class);
    gate.countDown();
    shelf.close();
  }

  @Test
  void aDurableCopyIsAnsweredWhateverItsCommitThrows() throws Exception {
    var folder = new HookedFolder(new LossyFolder());
    try (var shelf = new Shelf(settings(Ack.DURABLE), folder)) {
      folder.hook(
          (operation, _) -> {
            if (operation.equals("sync")) throw new IllegalStateException("nobody foresaw this");
          });
      assertThat(shelf.store(0, 1)).isInstanceOf(Failed.class);
      assertThat(shelf.caller.sync(shelf.store)).isInstanceOf(Failed.class);
      folder.hook((_, _) -> {});
      assertThat(shelf.store(0, 2)).isInstanceOf(Copied.class);
      assertThat(shelf.caller.sync(shelf.store)).isInstanceOf(Copied.class);
      shelf.assertHolds(Map.of(0, 2L));
    }
  }

  private static void pass(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
