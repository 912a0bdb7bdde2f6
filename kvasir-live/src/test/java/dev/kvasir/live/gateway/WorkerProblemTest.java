package dev.kvasir.live.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.live.gateway.worker.GatewayWorkers;
import dev.kvasir.live.http.Eventually;
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

/** Whoever runs workers is told which one is down, and why, without asking for more in the log. */
@Timeout(60)
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

  private String workers() {
    return scene
        .send(HttpRequest.newBuilder(URI.create(scene.gateway.adminUrl() + "/workers")))
        .body();
  }
}
