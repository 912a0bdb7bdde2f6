package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.tools.fleet.Fleet;
import dev.kvasir.tools.fleet.TestFleet;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.json.JsonMapper;

/**
 * A gateway that starts beside another one, when workers no longer repeat their first KV events.
 */
@Timeout(180)
@Tag("all")
class PeerSnapshotTest {
  private static final Duration STEP = Duration.ofMillis(1);
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int REPEATED_BATCHES = 3;
  private static final int PROMPTS = 12;

  /** Observations from one request. */
  private record Seen(String worker, int believed, int cached) {}

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<AutoCloseable> opened = new ArrayList<>();

  @TempDir private Path folder;

  private Fleet fleet;

  @BeforeEach
  void start() throws Exception {
    fleet = TestFleet.forgetful(TestFleet.settings(2), () -> STEP, REPEATED_BATCHES);
    opened.add(fleet);
  }

  @AfterEach
  void close() throws Exception {
    for (var each : opened.reversed()) each.close();
    client.close();
  }

  @Test
  void aGatewayThatStartsPredictsByWhatAPeerKnows() throws Exception {
    var first = serving("secret: one", "");
    var workers = teach(first);
    var second = serving("secret: one", "peers: [\"" + first.gateway().url() + "\"]");
    assertPredicts(second, workers);
    assertThat(metrics(second)).contains("kvasir_index_snapshots_total{result=\"taken\"} 2\n");
    assertThat(metrics(first)).contains("kvasir_index_snapshots_sent_total 2\n");
    assertFollows(second);
  }

  @Test
  void thePeerIsFoundByRedis() throws Exception {
    var redis = RedisServer.start(Files.createDirectory(folder.resolve("redis")));
    opened.addFirst(redis);
    var first = serving("secret: one", "server: \"" + redis.node() + "\", name: first");
    var workers = teach(first);
    var second = serving("secret: one", "server: \"" + redis.node() + "\", name: second");
    assertPredicts(second, workers);
    assertFollows(second);
  }

  @Test
  void withoutAPeerOnlyWhatTheWorkersRepeatIsKnown() throws Exception {
    var first = serving("secret: one", "");
    teach(first);
    var gone = URI.create(first.gateway().url()).getPort();
    var second =
        serving("secret: one", "peers: [\"http://127.0.0.2:" + gone + "\"], snapshot-time: 2s");
    assertThat(send(second, 0).believed()).isZero();
    assertThat(metrics(second)).contains("kvasir_index_snapshots_total{result=\"failed\"} 2\n");
    assertFollows(second);
  }

  @Test
  void aPeerOfAnotherSecretOrOtherSettingsIsNotBelieved() throws Exception {
    var first = serving("secret: one", "");
    teach(first);
    var peer = "peers: [\"" + first.gateway().url() + "\"]";
    var stranger = serving("secret: two", peer);
    assertThat(send(stranger, 0).believed()).isZero();
    assertThat(metrics(stranger)).contains("kvasir_index_snapshots_total{result=\"refused\"} 2\n");
    var other = serving("secret: one, policy: round-robin", peer);
    assertThat(metrics(other)).contains("kvasir_index_snapshots_total{result=\"refused\"} 2\n");
    assertThat(metrics(first)).contains("kvasir_index_snapshots_sent_total 0\n");
  }

  @Test
  void nobodyElseIsToldWhatWorkersHaveCached() throws Exception {
    var first = serving("secret: one", "");
    var url = URI.create(first.gateway().url() + "/gateways/snapshot");
    for (var header : List.of("", "e30.e30", "e30", ".", "%%%.%%%", "x".repeat(2_000))) {
      var request = HttpRequest.newBuilder(url).header("x-kvasir-peer", header).build();
      assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(403);
    }
    var bare = HttpRequest.newBuilder(url).build();
    assertThat(client.send(bare, BodyHandlers.ofString()).statusCode()).isEqualTo(403);
  }

  @Test
  void peersWithoutASecretAreRefusedAtTheStart() {
    assertThatThrownBy(() -> serving("", "peers: [\"http://127.0.0.1:1\"]"))
        .hasMessageContaining("routing.tenant-secret");
  }

  /** Asks for each prompt once; by then the workers repeat only the last of them. */
  private List<String> teach(Serving serving) throws Exception {
    var workers = new ArrayList<String>();
    for (int i = 0; i < PROMPTS; i++) workers.add(send(serving, i).worker());
    for (int i = 0; i < PROMPTS; i++) {
      int prompt = i;
      await(() -> send(serving, prompt).believed() > 0);
    }
    // What it believes is in part what it expects: a snapshot has what it heard.
    for (var worker : fleet.workers()) {
      await(() -> batches(serving, worker.name()) >= worker.events().published());
    }
    return workers;
  }

  /** Returns how many batches of KV events of a worker the gateway has heard. */
  private long batches(Serving serving, String worker) throws Exception {
    var row = "kvasir_kv_event_batches_total{worker=\"" + worker + "\"} ";
    var found = metrics(serving).lines().filter(line -> line.startsWith(row)).findFirst();
    return Long.parseLong(found.orElseThrow().substring(row.length()));
  }

  private void assertPredicts(Serving serving, List<String> workers) throws Exception {
    for (int i = 0; i < PROMPTS; i++) {
      var seen = send(serving, i);
      assertThat(seen.cached()).as("prompt %s", i).isGreaterThanOrEqualTo(96);
      assertThat(seen.believed()).as("prompt %s", i).isEqualTo(whole(seen.cached()));
      assertThat(seen.worker()).as("prompt %s", i).isEqualTo(workers.get(i));
    }
  }

  /** Asserts that blocks computed from now on are reported, too. */
  private void assertFollows(Serving serving) throws Exception {
    int prompt = PROMPTS + 7;
    assertThat(send(serving, prompt).believed()).isZero();
    await(
        () -> {
          var seen = send(serving, prompt);
          return seen.cached() > 0 && seen.believed() == whole(seen.cached());
        });
  }

  /** In whole blocks: the last token of a prompt is computed, whatever is cached. */
  private static int whole(int tokens) {
    return tokens - tokens % 16;
  }

  private interface Question {
    boolean holds() throws Exception;
  }

  private static void await(Question question) throws Exception {
    long start = System.nanoTime();
    while (!question.holds()) {
      assertThat(System.nanoTime() - start).isLessThan(PATIENCE.toNanos());
      Thread.sleep(10);
    }
  }

  private Serving serving(String routing, String replicas) throws Exception {
    var text = new StringBuilder();
    if (!routing.isEmpty()) text.append("routing: {tenant-").append(routing).append("}\n");
    var always =
        replicas.isEmpty() ? "peers: [\"http://127.0.0.1:1\"], snapshot-time: 1s" : replicas;
    text.append("replicas: {").append(always).append("}\nworkers:\n");
    for (var worker : fleet.workers()) {
      text.append("  - {url: \"%s\", name: \"%s\"".formatted(worker.url(), worker.name()));
      text.append(", events: \"%s\"".formatted(worker.events().endpoint()));
      text.append(", replay: \"%s\"}%n".formatted(worker.events().replayEndpoint()));
    }
    var file = Files.createTempFile(folder, "kvasir", ".yaml");
    Files.writeString(file, text);
    var all = new ServeOptions();
    var line = List.of("--config=" + file, "--port=0", "--admin-port=0");
    CommandLine.populateCommand(all, line.toArray(String[]::new));
    var serving = Serving.of(all.configuration(Map.of()).read(), folder.resolve("cache"), "test");
    opened.add(serving);
    var ready = URI.create(serving.gateway().url() + "/ready");
    var answer = client.send(HttpRequest.newBuilder(ready).build(), BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return serving;
  }

  private Seen send(Serving serving, int prompt) throws Exception {
    var body =
        "{\"model\": \"%s\", \"prompt\": \"%s\", \"max_tokens\": 2}"
            .formatted(TestFleet.MODEL, (prompt + " lanterns by the door. ").repeat(14));
    var request =
        HttpRequest.newBuilder(URI.create(serving.gateway().url() + "/v1/completions"))
            .header("content-type", "application/json")
            .header("x-kvasir-explain", "1")
            .timeout(Duration.ofMinutes(1))
            .POST(BodyPublishers.ofString(body))
            .build();
    var answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    var usage = JsonMapper.shared().readTree(answer.body()).path("usage");
    return new Seen(
        answer.headers().firstValue("x-kvasir-instance").orElseThrow(),
        Integer.parseInt(answer.headers().firstValue("x-kvasir-cached-tokens").orElseThrow()),
        usage.path("prompt_tokens_details").path("cached_tokens").asInt());
  }

  private String metrics(Serving serving) throws Exception {
    var url = URI.create(serving.gateway().adminUrl() + "/metrics");
    return client.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString()).body();
  }
}
