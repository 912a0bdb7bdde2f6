package dev.kvasir.tiers.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That the tiers can be measured; how fast they are is for a quiet machine to say. */
@Tag("all")
class TierBenchTest {
  @TempDir Path temp;

  @Test
  void measuresEveryEdgeAndLeavesNothingBehind() throws IOException {
    var report = TierBench.run(temp, 16 << 20, 1);
    assertThat(report.rates())
        .hasSize(2 + 4 * 5)
        .allSatisfy(rate -> assertThat(rate.gigabytesPerSecond()).isPositive())
        .allSatisfy(rate -> assertThat(rate.p99Micros()).isGreaterThanOrEqualTo(rate.p50Micros()));
    assertThat(report.ratios()).hasSize(8);
    assertThat(report.table()).contains("disk load", "plain read", "memcpy", "0.95");
    assertThat(temp).isEmptyDirectory();
  }
}
