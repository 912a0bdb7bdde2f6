package dev.kvasir.tiers.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.tiers.s3.ObjectSettings;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SharedLimitsTest {
  @Test
  void allBatchesTogetherStayWithinTheirShareOfTheHeap() {
    for (int threads : new int[] {1, 4, 16, 256}) {
      var limits = new SharedLimits(threads, 1024, 1024, Duration.ofSeconds(2));
      for (int bytes = 512; bytes <= 64 << 20; bytes *= 2) {
        int blocks = limits.batchBlocks(bytes);
        if (blocks == 1) continue; // A batch has one block at least.
        assertThat((long) threads * blocks * bytes)
            .as("%s threads, blocks of %s bytes", threads, bytes)
            .isLessThanOrEqualTo(SharedLimits.BATCH_BYTES_MAX);
      }
    }
  }

  @Test
  void aPackOfTheUsualSizeStaysWhole() {
    var usual = ObjectSettings.of(URI.create("http://127.0.0.1:1"), "blocks");
    assertThat(usual.limits().batchBlocks((1 << 20) + 512)).isGreaterThanOrEqualTo(8);
  }
}
