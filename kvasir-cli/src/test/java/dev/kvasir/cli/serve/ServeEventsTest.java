package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.events.EngineEvent;
import dev.kvasir.events.EngineHash;
import dev.kvasir.events.KvEventPublisher;
import dev.kvasir.events.PublisherSettings;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.tools.fleet.Fleet;
import dev.kvasir.tools.fleet.FleetWorker;
import dev.kvasir.tools.fleet.TestFleet;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.zeromq.ZContext;
import picocli.CommandLine;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares what the router believes of workers that publish KV events with what they report as
 * cached.
 */
@Timeout(180)
class ServeEventsTest {
  private static final String MODEL = TestFleet.MODEL;
  private static final Duration STEP = Duration.ofMillis(1);
  private static final int BLOCK_TOKENS = 16;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  /** Observations from one request. */
  private record Seen(String worker, int believed, int cached, int promptTokens) {}

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<AutoCloseable> opened = new ArrayList<>();

  private String bearer = "nobody";

  @TempDir private Path folder;

  @AfterEach
  void close() throws Exception {
    for (var each : opened.reversed()) each.close();
    client.close();
  }

  @Test
  void aPromptThatNamesItsModelIsFoundWhereEventsSayItIs() throws Exception {
    var serving = serving(fleet());
    assertBeliefIsTruth(serving, List.of(MODEL, MODEL, MODEL));
  }

  @Test
  void aPromptIsFoundWhetherOrNotItNamesItsModel() throws Exception {
    var serving = serving(fleet());
    assertBeliefIsTruth(serving, List.of("", MODEL, "", MODEL));
  }

  @Test
  void aPromptIsFoundInEmbeddedEnginesWhetherOrNotItNamesItsModel() throws Exception {
    var serving = serving("--device-blocks=128", "--host-blocks=256", "--disk-blocks=512");
    assertBeliefIsTruth(serving, List.of("", "kvasir-pocket-7m", "", "kvasir-pocket-7m"));
  }

  @Test
  void aTenantIsFoundInItsOwnBlocksAndNotInThoseOfAnother() throws Exception {
    var keys = folder.resolve("keys");
    var lines = new ArrayList<String>();
    for (var tenant : List.of("ada", "bob")) {
      lines.add(tenant + " " + ApiKey.of(tenant, tenant + "-key").sha256());
    }
    Files.write(keys, lines);
    var line = new ArrayList<>(options(fleet()));
    line.add("--api-keys=" + keys);
    var serving = serving(line.toArray(String[]::new));
    bearer = "ada-key";
    assertBeliefIsTruth(serving, List.of(MODEL, MODEL));
    bearer = "bob-key";
    var other = send(serving, MODEL);
    assertThat(List.of(other.believed(), other.cached())).containsExactly(0, 0);
  }

  @Test
  void whatBecomesOfEventsIsAmongTheMetrics() throws Exception {
    var fleet = fleet();
    var serving = serving(fleet);
    assertBeliefIsTruth(serving, List.of(MODEL, MODEL));
    // A request is written down when its answer is out.
    await(serving, "kvasir_worker_expected_cached_tokens_total\\{worker=\"[^\"]+\"} [1-9]");
    assertThat(metrics(serving))
        .containsPattern("kvasir_kv_event_batches_total\\{worker=\"[^\"]+\"} [1-9]")
        .containsPattern("blocks_dropped_total\\{worker=\"[^\"]+\",reason=\"conflict\"} 0")
        .contains("kvasir_prompts_named_total{by=\"tokens\",reason=\"\"} 2\n");
  }

  @Test
  void whatATierDaemonTellsIsHeardForTheWorkersAboveIt() throws Exception {
    var sockets = new ZContext(1);
    opened.add(sockets);
    var daemon =
        new KvEventPublisher(sockets, PublisherSettings.loopback(""), InstantSource.system());
    opened.add(daemon);
    var below = ",tier=" + daemon.endpoint() + ",tier-replay=" + daemon.replayEndpoint();
    var serving =
        serving(options(fleet()).stream().map(each -> each + below).toArray(String[]::new));
    daemon.publish(
        List.of(
            new EngineEvent.Stored(
                List.of(new EngineHash.Word(1), new EngineHash.Word(2)),
                null,
                new int[0],
                BLOCK_TOKENS,
                EngineEvent.Adapter.NONE,
                new EngineEvent.Place("STORAGE", "LOCAL"),
                List.of(),
                EngineEvent.Group.ONLY)));
    var dropped = Pattern.compile("worker=\"[^\"]+\",reason=\"tier_unknown\"} 2\n");
    for (int i = 0; i < 6_000 && !dropped.matcher(metrics(serving)).find(); i++) Thread.sleep(10);
    assertThat(dropped.matcher(metrics(serving)).results().count()).isEqualTo(2);
    assertBeliefIsTruth(serving, List.of(MODEL, MODEL));
  }

  /** Asks for one prompt again and again: after the first time it is cached, and known to be. */
  private void assertBeliefIsTruth(Serving serving, List<String> models) throws Exception {
    var first = send(serving, models.getFirst());
    assertThat(first.believed()).isZero();
    awaitBlocks(serving, first.worker(), first.promptTokens() / BLOCK_TOKENS);
    for (var model : models.subList(1, models.size())) {
      var seen = send(serving, model);
      assertThat(seen.worker()).as("model '%s'", model).isEqualTo(first.worker());
      assertThat(seen.cached()).isGreaterThanOrEqualTo(96);
      assertThat(seen.believed()).as("model '%s'", model).isEqualTo(seen.cached());
    }
  }

  private Fleet fleet() throws IOException {
    var fleet = TestFleet.start(TestFleet.settings(2), () -> STEP);
    opened.add(fleet);
    return fleet;
  }

  private Serving serving(Fleet fleet) throws IOException {
    return serving(options(fleet).toArray(String[]::new));
  }

  private static List<String> options(Fleet fleet) {
    return fleet.workers().stream().map(ServeEventsTest::option).toList();
  }

  private static String option(FleetWorker worker) {
    return "--worker=%s,events=%s,replay=%s"
        .formatted(worker.url(), worker.events().endpoint(), worker.events().replayEndpoint());
  }

  private Serving serving(String... options) throws IOException {
    var all = new ServeOptions();
    var line = new ArrayList<>(List.of("--port=0", "--admin-port=0"));
    line.addAll(List.of(options));
    CommandLine.populateCommand(all, line.toArray(String[]::new));
    var serving = Serving.of(all.configuration(Map.of()).read(), folder.resolve("cache"), "test");
    opened.add(serving);
    return serving;
  }

  private Seen send(Serving serving, String model) throws Exception {
    var named = model.isEmpty() ? "" : "\"model\": \"" + model + "\", ";
    var body =
        "{%s\"messages\": [{\"role\": \"user\", \"content\": \"%s\"}], \"max_tokens\": 2}"
            .formatted(named, "Tell me of the lantern by the door. ".repeat(14));
    var request =
        HttpRequest.newBuilder(URI.create(serving.gateway().url() + "/v1/chat/completions"))
            .header("content-type", "application/json")
            .header("x-kvasir-explain", "1")
            .header("authorization", "Bearer " + bearer)
            .timeout(Duration.ofMinutes(1))
            .POST(BodyPublishers.ofString(body))
            .build();
    var answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    var usage = JsonMapper.shared().readTree(answer.body()).path("usage");
    return new Seen(
        answer.headers().firstValue("x-kvasir-instance").orElseThrow(),
        Integer.parseInt(answer.headers().firstValue("x-kvasir-cached-tokens").orElseThrow()),
        usage.path("prompt_tokens_details").path("cached_tokens").asInt(),
        usage.path("prompt_tokens").asInt());
  }

  /** Waits until the index has heard of so many blocks of the worker. */
  private void awaitBlocks(Serving serving, String worker, int blocks) throws Exception {
    var pattern =
        Pattern.compile("kvasir_worker_blocks\\{worker=\"" + worker + "\",tier=\"device\"} (\\d+)");
    long start = System.nanoTime();
    while (System.nanoTime() - start < PATIENCE.toNanos()) {
      var found = pattern.matcher(metrics(serving));
      if (found.find() && Integer.parseInt(found.group(1)) >= blocks) return;
      Thread.sleep(20);
    }
    throw new AssertionError("blocks of " + worker + ": " + metrics(serving));
  }

  private void await(Serving serving, String line) throws Exception {
    var pattern = Pattern.compile(line);
    long start = System.nanoTime();
    while (!pattern.matcher(metrics(serving)).find()) {
      assertThat(System.nanoTime() - start).as(line).isLessThan(PATIENCE.toNanos());
      Thread.sleep(20);
    }
  }

  private String metrics(Serving serving) throws Exception {
    var url = URI.create(serving.gateway().adminUrl() + "/metrics");
    return client.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString()).body();
  }
}
