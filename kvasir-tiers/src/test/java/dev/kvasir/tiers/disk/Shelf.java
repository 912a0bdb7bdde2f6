package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A disk store with memory above it and a loop, for tests. */
final class Shelf implements AutoCloseable {
  final Caller caller = new Caller();
  final HostMemory above;
  final DiskStore store;

  Shelf(DiskSettings settings) throws IOException {
    this(settings, RealFolder.open(settings.folder()));
  }

  Shelf(DiskSettings settings, DiskFolder folder) throws IOException {
    this.above = new HostMemory("above", Math.min(64, settings.blocks()), settings.blockBytes());
    try {
      this.store = new DiskStore(caller.loop, above, settings, folder);
    } catch (IOException | RuntimeException e) {
      caller.close();
      above.close();
      folder.close();
      throw e;
    }
  }

  /** Stores blocks, slot by key, as many at a time as fit above. */
  List<CopyOutcome> store(Map<Integer, Long> keys) {
    var outcomes = new ArrayList<CopyOutcome>();
    var copies = new ArrayList<BlockCopy>();
    for (var entry : keys.entrySet()) {
      TestBlocks.fill(above.slot(copies.size()), entry.getValue(), 1);
      var block = TestBlocks.block(entry.getValue());
      copies.add(new BlockCopy(block, copies.size(), entry.getKey()));
      if (copies.size() == above.blocks()) {
        outcomes.addAll(caller.store(store, List.copyOf(copies)));
        copies.clear();
      }
    }
    outcomes.addAll(caller.store(store, copies));
    return outcomes;
  }

  CopyOutcome store(int slot, long key) {
    return store(Map.of(slot, key)).getFirst();
  }

  /** Loads the block and, if it was copied, checks its bytes. */
  CopyOutcome load(int slot, long key) {
    above.slot(0).fill((byte) 0xee);
    var copy = new BlockCopy(TestBlocks.block(key), 0, slot);
    var outcome = caller.load(store, List.of(copy)).getFirst();
    if (outcome instanceof Copied) TestBlocks.check(above.slot(0), key);
    return outcome;
  }

  void assertHolds(Map<Integer, Long> keys) {
    for (var entry : keys.entrySet()) {
      assertThat(load(entry.getKey(), entry.getValue()))
          .as("block %s in slot %s", entry.getValue(), entry.getKey())
          .isEqualTo(CopyOutcome.COPIED);
    }
  }

  @Override
  public void close() {
    store.close();
    caller.close();
    above.close();
  }
}
