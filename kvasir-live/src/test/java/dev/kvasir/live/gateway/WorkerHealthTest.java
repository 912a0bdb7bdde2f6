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
  void failuresInARowPutItInDoubtAndASuccessBetweenThemCounts() {
    breaker.probeSucceeded(0);
    breaker.failed("ada");
    breaker.failed("ada");
    breaker.succeeded();
    breaker.failed("ada");
    breaker.failed("ada");
    assertThat(breaker.isInDoubt()).isFalse();
    breaker.failed("ada");
    assertThat(breaker.isInDoubt()).isTrue();
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void failuresOfOneCallerAreInDoubtForThatCallerAlone() {
    breaker.probeSucceeded(0);
    for (int i = 0; i < 3; i++) breaker.failed("ada");
    assertThat(breaker.isInDoubtFor("ada")).isTrue();
    assertThat(breaker.isInDoubtFor("bob")).isFalse();
    breaker.failed("bob");
    assertThat(breaker.isInDoubtFor("eve")).isTrue();
  }

  @Test
  void itRestsBeforeItComesBackAndOneFailurePutsItInDoubtAgain() {
    breaker.probeSucceeded(0);
    for (int i = 0; i < 3; i++) breaker.failed("ada");
    breaker.eject(SECOND);
    assertThat(breaker.isOpen()).isTrue();
    breaker.probeSucceeded(5 * SECOND);
    assertThat(breaker.isOpen()).isTrue();
    breaker.probeSucceeded(6 * SECOND);
    assertThat(breaker.isOpen()).isFalse();
    assertThat(breaker.isInDoubt()).isFalse();
    breaker.failed("bob");
    assertThat(breaker.isInDoubtFor("bob")).isTrue();
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
