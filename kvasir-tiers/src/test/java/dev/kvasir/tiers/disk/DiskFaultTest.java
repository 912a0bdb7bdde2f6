package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A disk that is full, fails now and then, or stands still. */
@Tag("all")
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
        assertThat(folder.bytes(DiskBlockFile.BLOCKS).length).isEqualTo(BLOCKS * 2 * 4096);
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
      var failures = new AtomicInteger();
      var failedSyncs = new AtomicInteger();
      HookedFolder.Hook trouble =
          (operation, _) -> {
            if (random.nextInt(100) > 0) return;
            failures.incrementAndGet();
            if (operation.equals("sync")) failedSyncs.incrementAndGet();
            throw new IOException("Input/output error");
          };
      var held = new TreeMap<Integer, Long>();
      for (int round = 0; round < 30; round++) {
        folder.trouble(trouble);
        int failuresBefore = failures.get();
        int syncsBefore = failedSyncs.get();
        storeAll(shelf, round * 100L, held);
        boolean lost = ack == Ack.STORED && random.nextInt(5) == 0 && !synced(shelf);
        int failed = 0;
        for (var entry : held.entrySet()) {
          switch (shelf.load(entry.getKey(), entry.getValue())) {
            case Copied _ -> {}
            case CopyOutcome.Failed _, CopyOutcome.Refused _, CopyOutcome.Busy _ -> failed++;
            // A block that was stored is gone only if the disk did not keep what it was given.
            case CopyOutcome.Damaged(var reason) ->
                assertThat(failedSyncs.get()).as(reason).isGreaterThan(syncsBefore);
          }
        }
        // Each load that fails has a failure of the disk to thank for it.
        assertThat(failed).isLessThanOrEqualTo(failures.get() - failuresBefore);
        folder.trouble((_, _) -> {});
        // A read that failed does not cost the block.
        if (!lost && failedSyncs.get() == syncsBefore) shelf.assertHolds(held);
      }
      assertThat(storeAll(shelf, 77_000, held)).isFalse();
      shelf.assertHolds(held);
    }
  }

  private static boolean synced(Shelf shelf) {
    return shelf.caller.sync(shelf.store) instanceof Copied;
  }

  /** Both queues are filled, and each slot takes part in one copy only. */
  @Test
  @Timeout(180)
  void aDiskThatStandsStillNeverStopsTheLoop() throws Exception {
    var folder = new HookedFolder(new LossyFolder());
    var gate = new CountDownLatch(1);
    int slots = 64;
    int queueMax = 8;
    var settings =
        new DiskSettings(Path.of("nowhere"), slots, BLOCK_BYTES, 0, Ack.STORED, 2, queueMax);
    try (var shelf = new Shelf(settings, folder)) {
      for (int slot = slots / 2; slot < slots; slot++) {
        assertThat(shelf.store(slot, slot)).isEqualTo(CopyOutcome.COPIED);
      }
      folder.hook((_, _) -> pass(gate));
      var stores = new ArrayList<CopyOutcome>();
      var loads = new ArrayList<CopyOutcome>();
      var called = new CountDownLatch(1);
      shelf.caller.loop.execute(
          () -> {
            for (int i = 0; i < slots / 2; i++) {
              var copy = new BlockCopy(TestBlocks.block(i), i, i);
              shelf.store.store(List.of(copy), outcomes -> stores.addAll(outcomes));
              int other = slots / 2 + i;
              var wanted = new BlockCopy(TestBlocks.block(other), other, other);
              shelf.store.load(List.of(wanted), outcomes -> loads.addAll(outcomes));
            }
            called.countDown();
          });
      assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();
      // What the queues had no room for is answered while the disk stands still, and says why.
      await(shelf, () -> stores.size() == slots / 2 - queueMax);
      await(shelf, () -> loads.size() == slots / 2 - queueMax);
      assertThat(refusals(shelf, stores)).allMatch(it -> it.contains("queue full: 8 STORE"));
      assertThat(refusals(shelf, loads)).allMatch(it -> it.contains("queue full: 8 LOAD"));
      assertThat(shelf.store.stats().queued()).isEqualTo(2 * queueMax);
      gate.countDown();
      await(shelf, () -> stores.size() + loads.size() == slots);
      assertThat(shelf.store(0, 1)).isEqualTo(CopyOutcome.COPIED);
    }
  }

  private static List<String> refusals(Shelf shelf, List<CopyOutcome> outcomes) {
    var copy = new CompletableFuture<List<String>>();
    shelf.caller.loop.execute(
        () -> copy.complete(outcomes.stream().map(CopyOutcome::toString).toList()));
    return Caller.await(copy);
  }

  /** Asks on the loop, which must be free to answer. */
  private static void await(Shelf shelf, BooleanSupplier met) {
    while (true) {
      var answer = new CompletableFuture<Boolean>();
      shelf.caller.loop.execute(() -> answer.complete(met.getAsBoolean()));
      if (Caller.await(answer)) return;
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
