package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A gateway that starts while its workers are slow, as they are on a busy machine. */
@Timeout(180)
class GatewayStartTest {
  private static final String CHAT = "{\"messages\":[\"a\"]}";

  /** Longer than a probe may take later. */
  private static final Duration SLOW = Duration.ofMillis(1_500);

  @Test
  void workersThatAnswerTheirFirstProbeLateServeTheFirstRequest() {
    try (var scene = scene(lateOnce(), lateOnce())) {
      assertThat(scene.post(RawScene.CHAT, CHAT).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aWorkerThatHangsHoldsUpNoStartWhereAnotherIsWell() {
    try (var scene = scene(RawWorker.Call::hang, call -> call.json(200, "{}"))) {
      assertThat(scene.post(RawScene.CHAT, CHAT).statusCode()).isEqualTo(200);
    }
  }

  private static RawScene scene(RawWorker.Script first, RawWorker.Script second) {
    var scene =
        new RawScene(
            UnaryOperator.identity(),
            settings -> settings.probing(Duration.ofSeconds(1)),
            first,
            second);
    scene.completing(call -> call.json(200, "{\"ok\":1}"));
    return scene;
  }

  /** Of the first probe alone: a later one that is late is another matter. */
  private static RawWorker.Script lateOnce() {
    var isLater = new AtomicBoolean();
    return call -> {
      if (!isLater.getAndSet(true)) {
        var late = CompletableFuture.delayedExecutor(SLOW.toMillis(), TimeUnit.MILLISECONDS);
        CompletableFuture.runAsync(() -> {}, late).join();
      }
      call.json(200, "{}");
    };
  }
}
