package dev.kvasir.model.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class ParallelRunnerTest {
  @Test
  void everyUnitIsDoneOnceAndIsSeen() {
    try (var runner = new ParallelRunner("test", 3)) {
      for (int round = 0; round < 2_000; round++) {
        int units = round % 7;
        var done = new AtomicIntegerArray(8);
        var plain = new int[8];
        runner.run(
            units,
            (unit, worker) -> {
              assertThat(worker).isBetween(0, 2);
              plain[unit] = unit + 1;
              done.incrementAndGet(unit);
            });
        for (int unit = 0; unit < 8; unit++) {
          assertThat(done.get(unit)).isEqualTo(unit < units ? 1 : 0);
          assertThat(plain[unit]).isEqualTo(unit < units ? unit + 1 : 0);
        }
      }
    }
  }

  @Test
  void aFailureReachesTheCallerAndTheCrewGoesOn() {
    try (var runner = new ParallelRunner("test", 2)) {
      assertThatThrownBy(
              () ->
                  runner.run(
                      10,
                      (unit, _) -> {
                        if (unit == 3) throw new IllegalStateException("unit 3");
                      }))
          .hasMessage("unit 3");
      var done = new AtomicIntegerArray(4);
      runner.run(4, (unit, _) -> done.incrementAndGet(unit));
      for (int i = 0; i < 4; i++) assertThat(done.get(i)).isEqualTo(1);
    }
  }

  @Test
  void aCrewOfNobodyIsRefused() {
    assertThatThrownBy(() -> new ParallelRunner("test", 0)).hasMessageContaining("0 threads");
  }

  @Test
  void theExponentialIsNearTheTrueOne() {
    for (float x = -80; x < 80; x += 0.37f) {
      assertThat(Exponential.exp(x) / Math.exp(x)).isBetween(1 - 3e-7, 1 + 3e-7);
    }
    assertThat(Exponential.exp(-1000)).isLessThan(1e-37f);
    assertThat(Exponential.exp(0)).isEqualTo(1);
  }
}
