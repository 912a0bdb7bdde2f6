package dev.kvasir.gateway;

import static dev.kvasir.router.view.Availability.DOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.worker.GatewayWorkers;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.router.view.Availability;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that whoever runs workers is told which one is down, and why, without asking for more in
 * the log.
 */
@Timeout(180)
class WorkerProblemTest {
  private static final Logger LOG = Logger.getLogger(GatewayWorkers.class.getName());

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Handler handler = new Lines();
  private final Scene scene = new Scene();

  /** Keeps what is logged. */
  private final class Lines extends Handler {
    private final SimpleFormatter text = new SimpleFormatter();

    @Override
    public void publish(LogRecord event) {
      lines.add(event.getLevel() + " " + text.formatMessage(event));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  WorkerProblemTest() {
    LOG.addHandler(handler);
  }

  @AfterEach
  void stop() {
    LOG.removeHandler(handler);
    scene.close();
  }

  @Test
  void aWorkerThatIsDownIsNamedOnceWithTheReasonAndAgainWhenItIsBack() throws Exception {
    Eventually.ends(() -> scene.ready() < 2);
    scene.first.healthy = false;
    Eventually.ends(() -> scene.ready() == 2);
    assertThat(workers()).contains("\"problem\":\"/health answered 503\"");
    scene.first.healthy = true;
    Eventually.ends(() -> scene.ready() == 1);
    assertThat(workers()).doesNotContain("problem");
    assertThat(lines)
        .containsOnlyOnce("WARNING worker one is down, and probed on: /health answered 503")
        .contains("WARNING worker one answers probes again");
  }

  /** One that is taken away stops answering while it ends what it has, as it should. */
  @Test
  void aWorkerThatIsToGoIsNotMissed() throws Exception {
    try (var raw = new RawScene()) {
      raw.completing(
          call -> {
            call.streamHead();
            call.send("data: {}\n\n");
            call.hang();
          });
      Eventually.ends(() -> raw.gateway.onLoop(() -> raw.gateway.workers().ready()) < 2);
      for (int i = 0; i < 2; i++) {
        var _ = raw.begin(RawScene.CHAT, "{\"model\":\"tiny\",\"stream\":true,\"messages\":[]}");
      }
      Eventually.ends(() -> raw.first.seen().isEmpty() || raw.second.seen().isEmpty());
      raw.gateway.use(List.of(raw.second.worker("two")));
      raw.first.on("/health", call -> call.json(503, "{}"));
      Eventually.ends(() -> raw.gateway.onLoop(() -> availability(raw.gateway)) != DOWN);
      assertThat(lines).noneMatch(line -> line.contains("worker one is down"));
    }
  }

  private static Availability availability(Gateway gateway) {
    return gateway.workers().entry("one").availability();
  }

  private String workers() {
    return scene
        .send(HttpRequest.newBuilder(URI.create(scene.gateway.adminUrl() + "/workers")))
        .body();
  }
}
