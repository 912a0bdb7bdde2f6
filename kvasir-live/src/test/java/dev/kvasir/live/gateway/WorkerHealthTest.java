package dev.kvasir.live.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WorkerHealthTest {
  private static final long SECOND = 1_000_000_000L;
  private static final FailureRules RULES = FailureRules.DEFAULT.resting(3, Duration.ofSeconds(5));

  private final WorkerHealth breaker = new WorkerHealth(RULES, 0);

  @Test
  void aWorkerIsOutUntilItHasAnswered() {
    assertThat(breaker.isOpen()).isTrue();
    breaker.probeSucceeded(0);
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void failuresInARowTakeItOutAndASuccessBetweenThemCounts() {
    breaker.probeSucceeded(0);
    breaker.failed(1);
    breaker.failed(2);
    breaker.succeeded();
    breaker.failed(3);
    breaker.failed(4);
    assertThat(breaker.isOpen()).isFalse();
    breaker.failed(5);
    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void itRestsBeforeItComesBackAndOneFailureTakesItOutAgain() {
    breaker.probeSucceeded(0);
    for (int i = 0; i < 3; i++) breaker.failed(SECOND);
    breaker.probeSucceeded(5 * SECOND);
    assertThat(breaker.isOpen()).isTrue();
    breaker.probeSucceeded(6 * SECOND);
    assertThat(breaker.isOpen()).isFalse();
    breaker.failed(7 * SECOND);
    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void oneLostProbeIsForgiven() {
    breaker.probeSucceeded(0);
    breaker.probeFailed(1);
    assertThat(breaker.isOpen()).isFalse();
    breaker.probeFailed(2);
    assertThat(breaker.isOpen()).isTrue();
  }
}
