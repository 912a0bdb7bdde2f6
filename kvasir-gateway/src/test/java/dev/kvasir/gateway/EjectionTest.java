package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.Plan.Break;
import dev.kvasir.gateway.Plan.Fault;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests which workers are left alone for the failures of requests, and which stay whatever happens.
 */
@Timeout(180)
class EjectionTest {
  @Test
  void requestsThatFailEverywhereLeaveEveryWorkerReady() {
    try (var scene = new Scene()) {
      scene.reopen(
          s ->
              s.with(
                  Records.with(s.failures(), "failuresMax", 5, "restTime", Duration.ofHours(1))));
      for (int i = 0; i < 20; i++) {
        var answer = scene.stream(Plan.failing(Fault.ERROR, Break.FIN, 9, 0));
        assertThat(answer.statusCode()).isEqualTo(500);
      }
      assertThat(scene.ready()).isEqualTo(2);
      assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aWorkerThatFailsWhatOthersAnswerIsLeftAlone() {
    try (var scene = new Scene()) {
      scene.reopen(
          s ->
              s.with(
                  Records.with(s.failures(), "failuresMax", 5, "restTime", Duration.ofHours(1))));
      scene.first.broken = true;
      int failed = 0;
      for (int i = 0; i < 40; i++) {
        if (scene.stream(Plan.GOOD).statusCode() == 500) failed++;
      }
      assertThat(failed).isEqualTo(5);
      assertThat(scene.ready()).isEqualTo(1);
      assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
    }
  }
}
