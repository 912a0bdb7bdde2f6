package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.Plan.Break;
import dev.kvasir.gateway.Plan.Fault;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.router.flow.QueueLimits;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many callers who leave at any moment: in the queue, in the prefill, in the answer. */
@Timeout(300)
class LeavingStormTest {
  private static final int CALLERS = 500 * Integer.getInteger("kvasir.scale", 1);
  private static final int AT_ONCE = 64;
  private static final int LEAVE_MILLIS_MAX = 40;
  private static final long SEED = 20_261_117;

  private final AtomicInteger left = new AtomicInteger();

  @ParameterizedTest
  @EnumSource
  void whoLeavesLeavesNothingBehind(Connector connector) throws Exception {
    var random = new SplittableRandom(SEED);
    var slots = new Semaphore(AT_ONCE);
    UnaryOperator<GatewaySettings> few =
        s ->
            s.with(new QueueLimits(AT_ONCE / 2, AT_ONCE, Duration.ofSeconds(20)))
                .with(s.routing().by("balanced", "always"))
                .with(
                    Records.with(
                        s.failures(),
                        "firstTime",
                        Duration.ofMinutes(1),
                        "silenceTime",
                        Duration.ofMinutes(1)));
    try (var scene = new Scene(worker -> worker.by(connector, "127.0.0.1:" + worker.port()), few)) {
      var client = scene.network.vertx().createNetClient();
      for (int i = 0; i < CALLERS; i++) {
        slots.acquire();
        call(scene, client, random.split(), slots);
      }
      slots.acquire(AT_ONCE);
      assertThat(left.get()).as("seed " + SEED).isEqualTo(CALLERS);
      Eventually.ends(() -> scene.streaming() > 0);
      scene.assertBooksAreEmpty();
      assertThat(scene.stream(Plan.GOOD).body()).endsWith("[DONE]\n\n");
    }
  }

  private void call(Scene scene, NetClient client, SplittableRandom random, Semaphore slots) {
    var fault = random.nextBoolean() ? Fault.AFTER_HEAD : Fault.AFTER_EVENTS;
    var plan = Plan.failing(fault, Break.STALL, 9, 3).after(random.nextInt(2));
    var prompt = "\"messages\":[\"" + "long ".repeat(2_000) + "\"]";
    var body = Scene.body(plan, "\"stream\":true," + prompt);
    var head =
        String.join(
            "\r\n",
            "POST " + Scene.CHAT + " HTTP/1.1",
            "host: x",
            "content-type: application/json",
            "content-length: " + body.length(),
            "",
            "");
    client
        .connect(scene.gateway.port(), "127.0.0.1")
        .onFailure(_ -> slots.release())
        .onSuccess(socket -> stay(scene, socket, head + body, random, slots));
  }

  private void stay(
      Scene scene, NetSocket socket, String request, SplittableRandom random, Semaphore slots) {
    socket.exceptionHandler(_ -> {});
    socket.handler(_ -> {});
    socket.write(request);
    scene
        .network
        .vertx()
        .setTimer(
            1 + random.nextInt(LEAVE_MILLIS_MAX),
            _ -> {
              left.incrementAndGet();
              socket.close();
              slots.release();
            });
  }
}
