package dev.kvasir.sim.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimedStoreTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final List<CopyOutcome> outcomes = new ArrayList<>();

  @Test
  void whatAnotherStoredInTheSameTierIsLoaded() {
    var mine = store();
    var others = store();
    others.store(copies(7), outcomes::addAll);
    loop.run(100);
    mine.load(copies(7), outcomes::addAll);
    loop.run(100);
    assertThat(outcomes).containsExactly(CopyOutcome.COPIED, CopyOutcome.COPIED);
    assertThat(mine.loads()).isEqualTo(1);
    assertThat(mine.thrashed()).isZero();
  }

  @Test
  void whatIsWantedAgainAtOnceIsCountedAsThrashed() {
    var store = store();
    store.store(copies(3), outcomes::addAll);
    store.load(copies(3), outcomes::addAll);
    loop.run(100);
    assertThat(store.thrashed()).isEqualTo(1);
  }

  private TimedStore store() {
    return new TimedStore(loop, 16, Duration.ofNanos(1_000), 10);
  }

  private static List<BlockCopy> copies(int slot) {
    var block = TokenBlock.named(new BlockHash(1, 2, 3, slot), null, 0);
    return List.of(new BlockCopy(block, 0, slot));
  }
}
