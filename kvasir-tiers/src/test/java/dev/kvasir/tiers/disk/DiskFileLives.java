package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * A folder of blocks that lives through one crash after the other.
 *
 * <p>Each life opens the folder, checks what is there against what was durable, stores, commits,
 * syncs and checkpoints at random, and ends at some operation on a file, in the middle of it. Keys
 * come again, in the same slots and in others, with other bytes. Some operations fail.
 */
final class DiskFileLives implements AutoCloseable {
  private static final int BLOCKS = 6;
  private static final int BLOCK_BYTES = 4096;
  private static final int KEYS = 12;
  private static final int BATCH_MAX = 3;
  private static final int OPERATIONS_MAX = 120;

  private final RandomGenerator random;
  private final HostMemory above = new HostMemory("above", BATCH_MAX + 1, BLOCK_BYTES);
  private final DiskSettings settings = PowerLossTest.settings(BLOCKS, BLOCK_BYTES);
  private LossyFolder folder = new LossyFolder();

  /** The key that each slot surely holds, whatever happens. */
  private final Map<Integer, Long> durable = new TreeMap<>();

  /** The key that each slot holds if only the process dies. */
  private final Map<Integer, Long> stored = new TreeMap<>();

  private long version;
  int crashes;
  long durableFound;
  long otherFound;
  long misses;

  DiskFileLives(RandomGenerator random) {
    this.random = random;
  }

  @Override
  public void close() {
    above.close();
  }

  /** One life, from opening the folder to the crash. */
  void live() throws IOException {
    DiskBlockFile blockFile = null;
    var end = new int[] {random.nextInt(OPERATIONS_MAX)};
    var unsynced = new boolean[1];
    double failures = random.nextInt(3) == 0 ? 0.03 : 0;
    try {
      folder.trouble(
          (_, _) -> {
            if (end[0]-- <= 0) throw new LossyFolder.Crash();
          });
      blockFile = DiskBlockFile.open(folder, settings, above);
      check(blockFile);
      folder.trouble(
          (operation, _) -> {
            if (end[0]-- <= 0) throw new LossyFolder.Crash();
            if (random.nextDouble() >= failures) return;
            if (operation.equals("sync")) unsynced[0] = true;
            throw new IOException("EIO");
          });
      while (true) step(blockFile);
    } catch (LossyFolder.Crash crash) {
      crashes++;
    }
    // After a sync that failed the kernel shows what the disk does not have: only a stop is honest.
    if (random.nextInt(4) == 0 && !unsynced[0]) {
      folder = folder.afterKill();
    } else {
      folder = folder.afterPowerLoss(random);
      stored.clear();
      stored.putAll(durable);
    }
    if (blockFile != null) blockFile.abandon();
  }

  private void step(DiskBlockFile blockFile) throws IOException {
    switch (random.nextInt(12)) {
      case 0 -> {
        try {
          blockFile.index().checkpoint();
        } catch (IOException e) {
          assertThat(e).hasMessage("EIO");
        }
      }
      case 1, 2 -> sync(blockFile);
      case 3, 4, 5, 6 -> commit(blockFile);
      case 7 -> read(blockFile);
      default -> {
        var copy = next(0);
        int slot = copy.below();
        if (blockFile.store(copy) instanceof Copied) stored.put(slot, copy.block().hash().first());
      }
    }
  }

  /** A copy of some block to some slot; from here on the slot's block is no longer certain. */
  private BlockCopy next(int from) {
    int slot = random.nextInt(BLOCKS);
    long key = random.nextInt(KEYS);
    TestBlocks.fill(above.slot(from), key, ++version);
    durable.remove(slot);
    stored.remove(slot);
    return new BlockCopy(TestBlocks.block(key), from, slot);
  }

  private void sync(DiskBlockFile blockFile) {
    if (blockFile.sync() instanceof Copied) {
      settle(blockFile);
    } else {
      // What could not be synced may be gone; what was durable before still is.
      stored.clear();
      stored.putAll(durable);
    }
  }

  /** Everything that can be found now can be found for ever. */
  private void settle(DiskBlockFile blockFile) {
    for (var each : blockFile.held()) {
      durable.put(each.slot(), each.block().hash().first());
      stored.put(each.slot(), each.block().hash().first());
    }
  }

  private void commit(DiskBlockFile blockFile) {
    List<DiskBlockFile.Written> written = new ArrayList<>();
    var slots = new ArrayList<Integer>();
    for (int i = 0; i < BATCH_MAX; i++) {
      var copy = next(i);
      if (slots.contains(copy.below())) continue;
      slots.add(copy.below());
      try {
        written.add(blockFile.write(copy));
      } catch (IOException e) {
        assertThat(e).hasMessage("EIO");
      }
    }
    if (random.nextInt(4) == 0) sync(blockFile); // It may fail, and take with it what is written.
    List<CopyOutcome> outcomes = blockFile.commit(written);
    boolean failed = outcomes.stream().anyMatch(Failed.class::isInstance);
    if (failed) {
      stored.clear();
      stored.putAll(durable);
    }
    if (outcomes.stream().anyMatch(Copied.class::isInstance)) settle(blockFile);
  }

  private void read(DiskBlockFile blockFile) {
    for (var found : blockFile.held()) read(blockFile, found);
  }

  private boolean read(DiskBlockFile blockFile, Recovered found) {
    long key = found.block().hash().first();
    var copy = new BlockCopy(TestBlocks.block(key), BATCH_MAX, found.slot());
    if (!(blockFile.read(copy) instanceof Copied)) return false;
    TestBlocks.check(above.slot(BATCH_MAX), key);
    return true;
  }

  /** Reads all that the folder says it has; what must be there is, and nothing is wrong. */
  private void check(DiskBlockFile blockFile) {
    var good = new ArrayList<Long>();
    var found = new TreeMap<Integer, Long>();
    for (var each : blockFile.held()) {
      long key = each.block().hash().first();
      boolean copied = read(blockFile, each);
      if (copied) good.add(key);
      if (copied) found.put(each.slot(), key);
      if (!copied) misses++;
      else if (durable.containsKey(each.slot())) durableFound++;
      else otherFound++;
    }
    for (var entry : stored.entrySet()) {
      assertThat(good)
          .as("block %s of slot %s is lost", entry.getValue(), entry.getKey())
          .contains(entry.getValue());
    }
    // Opening the folder syncs what it found.
    durable.clear();
    durable.putAll(found);
    stored.clear();
    stored.putAll(found);
  }
}
