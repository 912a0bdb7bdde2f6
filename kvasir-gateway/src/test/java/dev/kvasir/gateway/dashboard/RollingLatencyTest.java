package dev.kvasir.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RollingLatencyTest {
  private long nanos = -7_000_000_000L;
  private final RollingLatency rolling = new RollingLatency(() -> nanos);

  private void pass(long seconds) {
    nanos += TimeUnit.SECONDS.toNanos(seconds);
  }

  @Test
  void withoutDurationsNothingIsKnown() {
    var latency = rolling.latency();
    assertThat(latency.lastMinute()).isEqualTo(Latency.Spread.NONE);
    assertThat(latency.slices()).hasSize(60).containsOnly(Latency.Spread.NONE);
    assertThat(latency.sliceSeconds() * latency.slices().size()).isEqualTo(300);
  }

  @Test
  void percentilesAreWithinTwoPercent() {
    for (int i = 1; i <= 1_000; i++) rolling.add(i / 1e3);
    var spread = rolling.latency().lastMinute();
    assertThat(spread.count()).isEqualTo(1_000);
    assertThat(spread.p50Seconds()).isCloseTo(0.5, within(0.01));
    assertThat(spread.p90Seconds()).isCloseTo(0.9, within(0.018));
    assertThat(spread.p99Seconds()).isCloseTo(0.99, within(0.02));
  }

  @Test
  void aMinuteLaterADurationIsOnlyInTheSeries() {
    rolling.add(0.1);
    pass(60);
    rolling.add(0.2);
    var latency = rolling.latency();
    assertThat(latency.lastMinute().count()).isEqualTo(1);
    assertThat(latency.slices().getLast().count()).isEqualTo(1);
    assertThat(latency.slices().stream().mapToLong(Latency.Spread::count).sum()).isEqualTo(2);
  }

  @Test
  void afterFiveMinutesADurationIsForgotten() {
    rolling.add(0.1);
    pass(295);
    assertThat(rolling.latency().slices().getFirst().count()).isEqualTo(1);
    pass(5);
    assertThat(rolling.latency().slices()).containsOnly(Latency.Spread.NONE);
    rolling.add(0.1);
    pass(10_000);
    assertThat(rolling.latency().slices()).containsOnly(Latency.Spread.NONE);
  }

  @Test
  void whatIsOutOfRangeCountsAtTheEnds() {
    rolling.add(0);
    rolling.add(1e9);
    assertThat(rolling.latency().lastMinute().count()).isEqualTo(2);
    assertThatIllegalArgumentException().isThrownBy(() -> rolling.add(-1));
    assertThatIllegalArgumentException().isThrownBy(() -> rolling.add(Double.NaN));
  }
}
