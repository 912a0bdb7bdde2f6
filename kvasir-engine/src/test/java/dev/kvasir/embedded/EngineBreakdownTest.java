package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.model.PocketModel;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An engine in which something happens that nobody foresaw. */
@Timeout(180)
class EngineBreakdownTest {
  private static final String WHOLE =
      "{\"prompt\": \"one two three\", \"max_tokens\": 20, \"ignore_eos\": true}";
  private static final String STREAM = WHOLE.replace("}", ", \"stream\": true}");
  private static final Logger LOG = Logger.getLogger(EmbeddedEngine.class.getName());

  private final HttpClient client = HttpClient.newHttpClient();
  private int steps;

  @Test
  void whoWaitsForAnAnswerHearsThatThereIsNone() throws Exception {
    var logged = new CopyOnWriteArrayList<LogRecord>();
    var handler = handler(logged::add);
    LOG.addHandler(handler);
    var model = ServedModel.withoutWeights("breaking", PocketModel.folder(), 1_024);
    var pace = new PacedEngines.Pace(this::breaking, _ -> NOWHERE);
    try (var engines = new PacedEngines(model, 1, 64, EngineSettings.DEFAULT, pace);
        var network = Network.open(1);
        var server =
            new EngineServer(
                network, HttpSettings.local(0), engines.engines().get(0), FaultInjection.NONE)) {
      assertThat(get(server, "/health").statusCode()).isEqualTo(200);
      var stream = client.sendAsync(post(server, STREAM), BodyHandlers.ofString());
      assertThat(stream.get().body()).contains("out of order").doesNotContain("[DONE]");
      var next = client.send(post(server, WHOLE), BodyHandlers.ofString());
      assertThat(next.statusCode()).isEqualTo(500);
      assertThat(next.body()).contains("worker-0 is out of order");
      assertThat(get(server, "/health").statusCode()).isEqualTo(500);
    } finally {
      LOG.removeHandler(handler);
    }
    assertThat(logged)
        .singleElement()
        .satisfies(line -> assertThat(line.getThrown()).hasMessage("a step on purpose"));
  }

  /** Goes well for some steps, and then throws. */
  private ModelBackend breaking(EventLoop loop) {
    return (_, done) -> {
      if (++steps > 5) throw new IllegalStateException("a step on purpose");
      loop.after(Duration.ofMillis(1), () -> done.accept(ModelBackend.StepResult.UNSEEN));
    };
  }

  private HttpResponse<String> get(EngineServer server, String path) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(server.front().url() + path)).build();
    return client.send(request, BodyHandlers.ofString());
  }

  private static HttpRequest post(EngineServer server, String body) {
    return HttpRequest.newBuilder(URI.create(server.front().url() + "/v1/completions"))
        .header("content-type", "application/json")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private static Handler handler(Consumer<LogRecord> consumer) {
    return new Handler() {
      @Override
      public void publish(LogRecord line) {
        consumer.accept(line);
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }

  /** A way to which nothing is ever given. */
  private static final TierStore NOWHERE =
      new TierStore() {
        @Override
        public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {}

        @Override
        public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {}
      };
}
