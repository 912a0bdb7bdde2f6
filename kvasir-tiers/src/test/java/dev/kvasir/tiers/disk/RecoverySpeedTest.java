package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measures how long a restart takes before the tier serves. */
@Tag("all")
class RecoverySpeedTest {
  private static final int BLOCKS = 100_000;

  @TempDir Path temp;

  @Test
  void aHundredThousandBlocksAreRecovered() throws IOException {
    var settings = DiskSettings.of(temp.resolve("tier"), BLOCKS, 64);
    try (var above = new HostMemory("above", 1, 64);
        var blockFile = DiskBlockFile.open(RealFolder.open(settings.folder()), settings, above)) {
      for (int slot = 0; slot < BLOCKS; slot++) {
        blockFile.index().put(slot, blockFile.index().nextGeneration(), TestBlocks.block(slot));
      }
      var copy = new BlockCopy(TestBlocks.block(7), 0, 7);
      assertThat(blockFile.store(copy)).isEqualTo(CopyOutcome.COPIED);
    }
    var best = Duration.ofDays(1);
    for (int i = 0; i < 3; i++) {
      var duration = recover(settings);
      if (duration.compareTo(best) < 0) best = duration;
    }
    System.out.printf("recovery: %,d blocks in %,d ms%n", BLOCKS, best.toMillis());
  }

  private static Duration recover(DiskSettings settings) throws IOException {
    long began = System.nanoTime();
    try (var shelf = new Shelf(settings)) {
      var pool =
          new BlockPool(
              PoolSettings.of(Tier.DISK, BLOCKS, 16), new PrefixRegistry(), new KvEvents());
      shelf.store.restore(pool);
      assertThat(pool.cached()).isEqualTo(BLOCKS);
      return Duration.ofNanos(System.nanoTime() - began);
    }
  }
}
