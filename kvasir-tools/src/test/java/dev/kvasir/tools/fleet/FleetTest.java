package dev.kvasir.tools.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.embedded.FaultInjection;
import dev.kvasir.events.EngineBlocks;
import dev.kvasir.events.KvEventSubscriber;
import dev.kvasir.events.SubscriberSettings;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.router.index.BlockUnits;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Look-alike workers, asked by a real client. */
class FleetTest {
  private static final Duration STEP = Duration.ofMillis(1);
  private static final String PROMPT = "\"prompt\": \"" + "one two three ".repeat(40) + "\"";

  private final HttpClient client = HttpClient.newHttpClient();
  private Fleet fleet;

  @BeforeEach
  void start() throws IOException {
    fleet = TestFleet.start(TestFleet.settings(2), () -> STEP);
  }

  @AfterEach
  void stop() {
    fleet.close();
    client.close();
  }

  @Test
  void anAnswerIsTheSameForTheSameSeed() throws Exception {
    var first = json(post(0, "{%s, \"max_tokens\": 20, \"seed\": 5}"));
    var second = json(post(1, "{%s, \"max_tokens\": 20, \"seed\": 5}"));
    var other = json(post(1, "{%s, \"max_tokens\": 20, \"seed\": 6}"));
    var text = first.at("/choices/0/text").asString();
    assertThat(text).isNotBlank().isEqualTo(second.at("/choices/0/text").asString());
    assertThat(text).isNotEqualTo(other.at("/choices/0/text").asString());
  }

  @Test
  void onePrefillsAndTheOtherGoesOn() throws Exception {
    var leg = "{%s, \"max_tokens\": 1, \"kv_transfer_params\": {\"do_remote_decode\": true}}";
    var prefilled = json(post(0, leg));
    assertThat(prefilled.at("/kv_transfer_params/remote_engine_id").asString())
        .isEqualTo("worker-0");
    var decoded = json(post(1, "{%s, \"max_tokens\": 4}"));
    assertThat(decoded.at("/usage/prompt_tokens_details/cached_tokens").asInt()).isPositive();
  }

  @Test
  void itsBlocksAreTold() throws Exception {
    var received = new CopyOnWriteArrayList<KvEvent>();
    var target =
        new BlockUnits.Target() {
          @Override
          public void on(KvEvent event) {
            received.add(event);
          }

          @Override
          public void forget() {
            received.clear();
          }
        };
    var events = fleet.worker(0).events();
    var settings = SubscriberSettings.of(events.endpoint(), events.replayEndpoint());
    try (var loop = new LiveLoop("test")) {
      var blocks = new EngineBlocks((_, salt) -> new Sha256Hasher("m", salt), 16, 1_000, target);
      try (var subscriber = new KvEventSubscriber(loop, settings, blocks)) {
        // Of what is told before it is there, a subscriber hears only when more is told.
        Eventually.ends(() -> subscriber.stats().connects() == 0);
        Thread.sleep(1_000);
        var answer = json(post(0, "{%s, \"max_tokens\": 1}"));
        int full = answer.at("/usage/prompt_tokens").asInt() / 16;
        Eventually.ends(() -> received.size() < full);
        assertThat(received).hasSize(full).allMatch(KvEvent.Stored.class::isInstance);
      }
    }
  }

  @Test
  void whatIsToGoWrongGoesWrongOnceAndThenNoMore() throws Exception {
    var stream = "{%s, \"max_tokens\": 9, \"ignore_eos\": true, \"stream\": true}";
    var faults = fleet.worker(0).faults();
    faults.add(new FaultInjection.Fault(FaultInjection.Kind.ERROR, 3), 1);
    assertThat(post(0, stream).body()).contains("on_purpose").doesNotContain("[DONE]");
    faults.add(new FaultInjection.Fault(FaultInjection.Kind.REFUSE, 0), 1);
    assertThat(post(0, stream).statusCode()).isEqualTo(500);
    faults.add(new FaultInjection.Fault(FaultInjection.Kind.RESET, 2), 1);
    assertThatThrownBy(() -> post(0, stream)).isInstanceOf(IOException.class);
    faults.add(new FaultInjection.Fault(FaultInjection.Kind.TRUNCATE, 2), 1);
    assertThatThrownBy(() -> post(0, stream)).isInstanceOf(IOException.class);
    assertThat(post(0, stream).body()).endsWith("data: [DONE]\n\n");
  }

  @Test
  void aKilledWorkerComesBackWithNothingCached() throws Exception {
    var worker = fleet.worker(0);
    post(0, "{%s, \"max_tokens\": 1}");
    worker.kill();
    assertThatThrownBy(() -> post(0, "{%s, \"max_tokens\": 1}")).isInstanceOf(IOException.class);
    worker.revive();
    var answer = json(postAnew("{%s, \"max_tokens\": 1}"));
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(1);
    assertThat(answer.at("/usage/prompt_tokens_details/cached_tokens").asInt()).isZero();
  }

  @Test
  void faultsCanBeAskedForOverHttp() throws Exception {
    try (var control = fleet.control(HttpSettings.local(0))) {
      var body = "{\"worker\": 1, \"kind\": \"refuse\", \"answers\": 2}";
      assertThat(send(control.url() + "/faults", body).statusCode()).isEqualTo(200);
      assertThat(fleet.worker(1).faults().owed()).isEqualTo(2);
      var wrong = send(control.url() + "/faults", "{\"kind\": \"sulk\"}");
      assertThat(wrong.statusCode()).isEqualTo(400);
      assertThat(wrong.body()).contains("kind must be one of");
    }
  }

  private HttpResponse<String> post(int worker, String body) throws Exception {
    return send(fleet.worker(worker).url() + "/v1/completions", body.formatted(PROMPT));
  }

  /** Posts by a new client: the other may still have connections of the worker as it was before. */
  private HttpResponse<String> postAnew(String body) throws Exception {
    try (var other = HttpClient.newHttpClient()) {
      var url = fleet.worker(0).url() + "/v1/completions";
      return other.send(request(url, body.formatted(PROMPT)), BodyHandlers.ofString());
    }
  }

  private HttpResponse<String> send(String url, String body) throws Exception {
    return client.send(request(url, body), BodyHandlers.ofString());
  }

  private static HttpRequest request(String url, String body) {
    return HttpRequest.newBuilder(URI.create(url))
        .header("content-type", "application/json")
        .timeout(Duration.ofSeconds(20))
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private static JsonNode json(HttpResponse<String> response) {
    return JsonMapper.shared().readTree(response.body());
  }
}
