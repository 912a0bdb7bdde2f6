package dev.kvasir.tiers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostStoreTest {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int BLOCKS = 16;

  @Test
  void slotsAreAlignedToPagesAndApart() {
    try (var memory = new HostMemory("host", 3, 5000)) {
      assertThat(memory.slot(0).address() % 4096).isZero();
      assertThat(memory.slot(1).address() - memory.slot(0).address()).isEqualTo(8192 + 4096);
      assertThat(memory.slot(2).byteSize()).isEqualTo(5000);
      assertThat(memory.bytes()).isEqualTo(3 * (8192 + 4096));
    }
  }

  @Test
  void memoryThatCannotBeHadIsRefusedWithAReason() {
    assertThatThrownBy(() -> new HostMemory("host tier", Integer.MAX_VALUE, 1 << 20))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("host tier needs")
        .hasMessageContaining("make the tier smaller");
  }

  @Test
  void aSlotThatIsNotThereIsABug() {
    try (var memory = new HostMemory("host", 3, 4096)) {
      assertThatThrownBy(() -> memory.slot(3)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> memory.slot(-1)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void useAfterCloseFailsCleanly() {
    var memory = new HostMemory("host", 3, 4096);
    var slot = memory.slot(0);
    memory.close();
    memory.close();
    assertThatThrownBy(() -> slot.fill((byte) 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> memory.slot(1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void smallAndLargeBatchesComeBackAsTheyWere() {
    try (var caller = new Caller();
        var above = new HostMemory("above", BLOCKS, BLOCK_BYTES);
        var here = new HostMemory("here", BLOCKS, BLOCK_BYTES);
        var store = new HostStore(caller.loop, above, here, 2, 64)) {
      for (int count : new int[] {0, 1, BLOCKS}) {
        var copies = copies(count);
        for (var copy : copies) fill(above, copy);
        assertThat(caller.store(store, copies)).hasSize(count).containsOnly(copied(count));
        for (var copy : copies) above.slot(copy.above()).fill((byte) 0);
        assertThat(caller.load(store, copies)).hasSize(count).containsOnly(copied(count));
        for (var copy : copies) {
          TestBlocks.check(above.slot(copy.above()), copy.block().hash().first());
        }
      }
      assertThat(store.queued()).isZero();
    }
  }

  @Test
  void whatDoesNotFitInTheQueueIsRefusedAtOnce() {
    try (var caller = new Caller();
        var above = new HostMemory("above", BLOCKS, BLOCK_BYTES);
        var here = new HostMemory("here", BLOCKS, BLOCK_BYTES);
        var store = new HostStore(caller.loop, above, here, 1, 4)) {
      var outcomes = caller.store(store, copies(BLOCKS));
      assertThat(outcomes).filteredOn(CopyOutcome.Copied.class::isInstance).hasSizeBetween(4, 15);
      assertThat(outcomes)
          .filteredOn(CopyOutcome.Refused.class::isInstance)
          .allSatisfy(failed -> assertThat(failed.toString()).contains("queue full"));
    }
  }

  @Test
  void aClosedStoreAndAClosedMemoryAnswer() {
    try (var caller = new Caller()) {
      var above = new HostMemory("above", BLOCKS, BLOCK_BYTES);
      var here = new HostMemory("here", BLOCKS, BLOCK_BYTES);
      var store = new HostStore(caller.loop, above, here, 1, 64);
      here.close();
      assertThat(caller.load(store, copies(BLOCKS)))
          .allSatisfy(outcome -> assertThat(outcome).isInstanceOf(CopyOutcome.Failed.class));
      store.close();
      assertThat(caller.store(store, copies(BLOCKS)))
          .allSatisfy(outcome -> assertThat(outcome.toString()).contains("closed"));
      above.close();
    }
  }

  @Test
  void memoriesOfOtherBlocksDoNotMatch() {
    try (var caller = new Caller();
        var above = new HostMemory("above", 1, 4096);
        var here = new HostMemory("here", 1, 8192)) {
      assertThatThrownBy(() -> new HostStore(caller.loop, above, here, 1, 1))
          .hasMessageContaining("above has blocks of 4096 bytes, here of 8192");
    }
  }

  private static CopyOutcome[] copied(int count) {
    return count == 0 ? new CopyOutcome[0] : new CopyOutcome[] {CopyOutcome.COPIED};
  }

  private static void fill(HostMemory above, BlockCopy copy) {
    TestBlocks.fill(above.slot(copy.above()), copy.block().hash().first(), 1);
  }

  private static List<BlockCopy> copies(int count) {
    var copies = new ArrayList<BlockCopy>();
    for (int i = 0; i < count; i++) {
      copies.add(new BlockCopy(TestBlocks.block(100 + i), i, BLOCKS - 1 - i));
    }
    return copies;
  }
}
