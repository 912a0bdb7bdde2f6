package dev.kvasir.live.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.offload.BlockCopy;
import dev.kvasir.offload.CopyOutcome;
import dev.kvasir.offload.CopyOutcome.Copied;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A disk that is full, fails now and then, or stands still. */
class DiskFaultTest {
  private static final int BLOCKS = 16;
  private static final int BLOCK_BYTES = 4096;
  private static final int WRITES = 500;
  private static final int ROUNDS = 12;

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  @Test
  void aDiskThatIsFullAtAnyWriteFailsCopiesAndServesAgainWhenThereIsRoom() throws IOException {
    int failedRuns = 0;
    for (int n = 1; n <= WRITES; n++) {
      var ack = n % 2 == 0 ? Ack.STORED : Ack.DURABLE;
      if (fullAt(n, ack)) failedRuns++;
    }
    assertThat(failedRuns).isEqualTo(WRITES);
  }

  /** Fills the disk at the n-th write, and makes room again; whether any copy failed. */
  private static boolean fullAt(int n, Ack ack) throws IOException {
    var folder = new LossyFolder();
    var held = new TreeMap<Integer, Long>();
    boolean failed = false;
    try (var shelf = new Shelf(PowerLossTest.settings(BLOCKS, BLOCK_BYTES).with(ack), folder)) {
      var left = new AtomicInteger(n);
      folder.trouble(
          (operation, _) -> {
            if (operation.equals("write") && left.decrementAndGet() <= 0) {
              throw new IOException("No space left on device");
            }
          });
      for (int round = 0; round < ROUNDS || left.get() > 0; round++) {
        failed |= storeAll(shelf, round * 100L, held);
        assertThat(folder.bytes(BlockVault.BLOCKS).length).isEqualTo(BLOCKS * 2 * 4096);
        assertThat(folder.bytes(IndexLog.NAME).length)
            .isLessThanOrEqualTo((int) shelf.store.stats().indexBytesMax());
      }
      shelf.assertHolds(held);
      assertThat(shelf.store.stats().failed()).isPositive();
      folder.trouble((_, _) -> {});
      assertThat(storeAll(shelf, 77_000, held)).isFalse();
      shelf.assertHolds(held);
    }
    try (var shelf = new Shelf(PowerLossTest.settings(BLOCKS, BLOCK_BYTES), folder)) {
      shelf.assertHolds(held);
    }
    return failed;
  }

  /** Stores a block in each slot; whether any failed. */
  private static boolean storeAll(Shelf shelf, long first, Map<Integer, Long> held) {
    var keys = new TreeMap<Integer, Long>();
    for (int slot = 0; slot < BLOCKS; slot++) keys.put(slot, first + slot);
    boolean failed = false;
    List<CopyOutcome> outcomes = shelf.store(keys);
    assertThat(outcomes).hasSize(BLOCKS);
    for (int slot = 0; slot < BLOCKS; slot++) {
      if (outcomes.get(slot) instanceof Copied) {
        held.put(slot, first + slot);
      } else {
        failed = true;
        // The old block may still be there; the new one is not.
        held.remove(slot);
        assertThat(shelf.load(slot, first + slot)).isNotInstanceOf(Copied.class);
      }
    }
    return failed;
  }

  @Test
  void aDiskThatFailsNowAndThenServesNoWrongByteAndWorksOn() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          try {
            failing(random);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  private static void failing(RandomGenerator random) throws IOException {
    var folder = new LossyFolder();
    var ack = random.nextBoolean() ? Ack.STORED : Ack.DURABLE;
    try (var shelf = new Shelf(PowerLossTest.settings(BLOCKS, BLOCK_BYTES).with(ack), folder)) {
      long[] asked = new long[1];
      folder.trouble(
          (_, _) -> {
            asked[0]++;
            if (random.nextInt(100) == 0) throw new IOException("Input/output error");
          });
      var held = new TreeMap<Integer, Long>();
      int missed = 0;
      for (int round = 0; round < 30; round++) {
        storeAll(shelf, round * 100L, held);
        for (var entry : held.entrySet()) {
          // Whatever the answer is, it is one; and if it is the block, it is the right one.
          if (!(shelf.load(entry.getKey(), entry.getValue()) instanceof Copied)) missed++;
        }
        if (random.nextInt(5) == 0) shelf.caller.sync(shelf.store);
      }
      assertThat(missed).isLessThan(200);
      folder.trouble((_, _) -> {});
      assertThat(storeAll(shelf, 77_000, held)).isFalse();
      shelf.assertHolds(held);
    }
  }

  @Test
  void aDiskThatStandsStillNeverStopsTheLoop() throws Exception {
    var folder = new LossyFolder();
    var gate = new CountDownLatch(1);
    try (var shelf = new Shelf(PowerLossTest.settings(BLOCKS, BLOCK_BYTES), folder)) {
      folder.trouble((_, _) -> pass(gate));
      var answered = new AtomicInteger();
      var refused = new AtomicInteger();
      int calls = 5_000;
      var called = new CountDownLatch(1);
      var copy = new BlockCopy(TestBlocks.block(1), 0, 0);
      shelf.caller.loop.execute(
          () -> {
            for (int i = 0; i < calls; i++) {
              shelf.store.store(
                  List.of(copy),
                  outcomes -> {
                    answered.incrementAndGet();
                    if (!(outcomes.getFirst() instanceof Copied)) refused.incrementAndGet();
                  });
            }
            shelf.store.sync(_ -> answered.incrementAndGet());
            assertThat(shelf.store.stats().queued()).isPositive();
            called.countDown();
          });
      called.await();
      while (refused.get() < calls - 1) Thread.onSpinWait();
      assertThat(answered.get()).isEqualTo(calls - 1);
      gate.countDown();
      while (answered.get() < calls + 1) Thread.onSpinWait();
      assertThat(shelf.store(0, 1)).isEqualTo(CopyOutcome.COPIED);
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
