package dev.kvasir.gpu.tier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.StubCuda;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the check of a real GPU on the driver without one. */
class GpuChainTest {
  @TempDir private Path folder;

  @Test
  void whateverComesBackFromBelowIsWhatWasThere() throws IOException {
    var stub = StubCuda.fresh();
    for (long seed = 1; seed <= 2; seed++) {
      var layout = new DeviceLayout(64, 4, 4 << 10);
      var size = new GpuTieredCache.Size(layout, 128, 512, folder.resolve("chain-" + seed));
      var result = ChainCheck.run(stub.probe(), size, 48 << 20, seed);
      assertThat(result.wrongWords()).as("seed %s: %s", seed, result).isZero();
      assertThat(result.compared()).as("seed %s: %s", seed, result).isPositive();
      assertThat(result.failed()).as("seed %s: %s", seed, result).isZero();
      assertThat(result.left().isEmpty()).as("seed %s: %s", seed, result).isTrue();
      assertThat(result.leakedBytes()).as("seed %s: %s", seed, result).isZero();
    }
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void whatAKernelStillWritesIsNotReadBeforeItIsDone() throws IOException {
    var layout = DeviceLayout.contiguous(64, 16 << 10);
    var size = new GpuTieredCache.Size(layout, 128, 64, folder.resolve("passes"));
    var result = PassCheck.run(StubCuda.fresh().probe(), size, 200, Duration.ofMillis(2), 8);
    assertThat(result.wrongBlocks()).isZero();
    assertThat(result.early()).isZero();
    assertThat(result.threadsMost()).isLessThanOrEqualTo(0);
  }
}
