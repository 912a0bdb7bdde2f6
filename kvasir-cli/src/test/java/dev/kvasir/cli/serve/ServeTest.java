package dev.kvasir.cli.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.KeyFile;
import dev.kvasir.cli.simulate.SimulateCommand;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.placement.RouteClass;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests what `kvasir serve` starts, with requests from a real client. */
@Tag("all")
class ServeTest {
  private static final Path LISTENING = Path.of("/proc/self/net/tcp");
  private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");
  private static final String PREAMBLE = "Be brief and clear. ".repeat(12);

  private final HttpClient client = HttpClient.newHttpClient();

  private String bearer = "nobody";
  private String preamble = PREAMBLE;

  @TempDir private Path folder;

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void withNoArgumentsTwoEnginesAnswerAndShareWhatTheyComputed() throws Exception {
    var capture = folder.resolve("traffic.jsonl");
    try (var serving = embedded("--capture", capture.toString(), "--routing", "round-robin")) {
      var instances = new ArrayList<String>();
      var cached = new ArrayList<Integer>();
      for (var word : List.of("lantern", "candle", "lantern")) {
        var answer = complete(serving, word);
        assertThat(answer.statusCode()).isEqualTo(200);
        instances.add(answer.headers().firstValue("x-kvasir-instance").orElse(""));
        cached.add(cached(answer));
      }
      assertThat(instances).containsExactly("engine-0", "engine-1", "engine-0");
      assertThat(cached.getFirst()).isZero();
      assertThat(cached.subList(1, 3)).allMatch(tokens -> tokens >= 64);
      serving.drain();
    }
    assertThat(Files.readAllLines(capture)).hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  void aCaptureCarriesTheFileItWasServedWithAndIsValidatedWithIt() throws Exception {
    var capture = folder.resolve("traffic.jsonl");
    var yaml =
        """
        engines: {count: 1, eviction: s3-fifo, scheduler: priority, sequences-max: 7}
        limits:
          queue: {in-flight-max: 2, turns: {classes: [{name: batch, target: 30s}]}}
          admission: {policy: tier-shed, shed-threshold: 9}
        routing: {policy: weighted, scorers: 'queue-depth:1'}
        slo: {ttft: 2s}
        """;
    var file = Files.writeString(folder.resolve("kvasir.yaml"), yaml);
    try (var serving = embedded("--config", "" + file, "--capture", "" + capture)) {
      for (int i = 0; i < 9; i++) {
        assertThat(complete(serving, "lantern number " + i % 3).statusCode()).isEqualTo(200);
      }
      serving.drain();
    }
    var page = folder.resolve("page.html");
    var out = new StringWriter();
    var err = new StringWriter();
    int code =
        SimulateCommand.line(new PrintWriter(out, true), new PrintWriter(err, true), Map.of())
            .execute("--json", "--validate", "" + capture, "--report", "" + page);
    assertThat(code).as(err.toString()).isZero();
    var fidelity = JsonMapper.shared().readTree(out.toString());
    assertThat(fidelity.path("requests").asInt()).isEqualTo(9);
    assertThat(fidelity.at("/hit_rate/predicted").asDouble()).isPositive();
    var shown = Files.readString(page).replaceAll("<[^>]*>", " ").replaceAll("\\s+", " ");
    assertThat(shown)
        .contains("engines.count 1 ", "engines.eviction s3-fifo", "engines.scheduler priority")
        .contains("engines.sequences-max 7", "limits.queue.in-flight-max 2")
        .contains("limits.admission.policy tier-shed", "limits.admission.shed-threshold 9")
        .contains("routing.policy weighted", "routing.scorers queue-depth:1")
        .contains("tiers.host.blocks 256", "slo.ttft 2s");
  }

  @Test
  void theStepsOfTheLastSecondAreInTheCapture() throws Exception {
    var capture = folder.resolve("traffic.jsonl");
    try (var serving = embedded("--capture", "" + capture)) {
      // Its only step has just ended when it is answered.
      assertThat(complete(serving.gateway().url(), "lantern", 1).statusCode()).isEqualTo(200);
      serving.drain();
    }
    assertThat(capture).content().contains("kvasir.steps.v1");
  }

  @Test
  void aRestartFindsOnDiskWhatWasComputedBefore() throws Exception {
    try (var serving = embedded()) {
      complete(serving, "lantern");
      serving.drain();
    }
    try (var serving = embedded()) {
      var tiers = requireNonNull(serving.embedded().orElseThrow().group().tiers());
      assertThat(requireNonNull(tiers.disk()).recovered()).isNotEmpty();
      assertThat(cached(complete(serving, "lantern"))).isGreaterThanOrEqualTo(64);
    }
  }

  @Test
  void theDashboardShowsEnginesTiersAndDecisions() throws Exception {
    try (var serving = embedded()) {
      complete(serving, "lantern");
      var url = serving.gateway().url();
      assertThat(get(url + "/").body()).contains("<html");
      var state = JsonMapper.shared().readTree(get(url + "/dashboard/state").body());
      assertThat(state.at("/instances").size()).isEqualTo(2);
      assertThat(state.at("/tiers").size()).isEqualTo(4);
      assertThat(state.at("/edges").size()).isEqualTo(3);
      assertThat(state.at("/decisions/0/reason").asString()).isNotBlank();
      assertThat(state.at("/models/0").asString()).isEqualTo("kvasir-pocket-7m");
      assertThat(get(serving.gateway().adminUrl() + "/metrics").body())
          .contains("kvasir_decisions_total")
          .containsPattern("kvasir_tier_blocks\\{tier=\"device\",worker=\"engine-[01]\"} [1-9]")
          .contains("kvasir_tier_blocks_max{tier=\"disk\"} ")
          .contains("kvasir_offload_waiting{from=\"host\",to=\"disk\"} ")
          .contains("kvasir_onboard_searches{worker=\"engine-1\"} 0")
          .contains("kvasir_store_queued{tier=\"disk\"} ");
    }
  }

  @Test
  void aPromptIsComputedOnOneEngineAndAnsweredOnTheOther() throws Exception {
    var settings = settings();
    try (var network = Network.open(2);
        var model = settings.engines().load(folder);
        var workers = EmbeddedWorkers.start(network, model, settings, folder);
        var gateway = Gateway.start(network, placing(workers), extensions(workers))) {
      var answer = complete(gateway.url(), "lantern");
      var headers = answer.headers();
      assertThat(headers.firstValue("x-kvasir-reason")).hasValue("forced");
      assertThat(headers.firstValue("x-kvasir-prefill-instance"))
          .isPresent()
          .isNotEqualTo(headers.firstValue("x-kvasir-instance"));
      assertThat(json(answer).at("/choices/0/message/content").asString())
          .startsWith("Lantern (noun)");
      assertThat(cached(answer)).isGreaterThanOrEqualTo(64);
    }
  }

  /** Always elsewhere, for prompts far shorter than those that usually count as heavy. */
  private static GatewaySettings placing(EmbeddedWorkers workers) {
    var settings = RouterSettings.DEFAULT.withClasses(new RouteClass.Limits(16, 0.1, 64));
    return GatewaySettings.of(0, workers.workers())
        .with(Routing.DEFAULT.with(settings).by("balanced", "always"));
  }

  private static Gateway.Extensions extensions(EmbeddedWorkers workers) {
    return new Gateway.Extensions(
        "", () -> TieredCacheState.NONE, List.of(), UnaryOperator.identity(), workers.engines());
  }

  @Test
  void whoHasNoKeyIsRefusedWhereThereAreKeys() throws Exception {
    var keys = folder.resolve("keys");
    Files.writeString(
        keys,
        "# of tests\nada " + "0".repeat(64) + " per-minute=60 tokens-per-minute=9000 at-once=4\n");
    try (var serving = embedded("--api-keys", keys.toString())) {
      assertThat(complete(serving, "lantern").statusCode()).isEqualTo(401);
      assertThat(get(serving.gateway().url() + "/dashboard/state").statusCode()).isEqualTo(401);
    }
    for (var wrong : List.of("ada", "ada 12", "ada " + "0".repeat(64) + " boss", "")) {
      Files.writeString(keys, wrong);
      assertThatThrownBy(() -> KeyFile.read(keys))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(keys.toString());
    }
  }

  @Test
  void enginesOpenNoPort() throws Exception {
    assumeTrue(Files.exists(LISTENING), "the kernel does not list its sockets");
    var before = listening();
    try (var serving = embedded()) {
      assertThat(complete(serving, "lantern").statusCode()).isEqualTo(200);
      awaitBlocks(serving);
      var opened = listening();
      opened.removeAll(before);
      assertThat(opened)
          .containsExactlyInAnyOrder(
              URI.create(serving.gateway().url()).getPort(),
              URI.create(serving.gateway().adminUrl()).getPort());
    }
  }

  /** The ports that this process listens on, of either version of IP. */
  private static Set<Integer> listening() throws IOException {
    var own = new TreeSet<String>();
    try (var files = Files.list(Path.of("/proc/self/fd"))) {
      for (var file : files.toList()) {
        var socket = SOCKET.matcher(target(file));
        if (socket.matches()) own.add(socket.group(1));
      }
    }
    var ports = new TreeSet<Integer>();
    for (var table : List.of(LISTENING, LISTENING.resolveSibling("tcp6"))) {
      for (var line : Files.exists(table) ? Files.readAllLines(table) : List.<String>of()) {
        var fields = line.strip().split("\\s+", -1);
        if (fields.length < 10 || !fields[3].equals("0A") || !own.contains(fields[9])) continue;
        ports.add(Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16));
      }
    }
    return ports;
  }

  /**
   * Returns the target of a file of the process, or an empty string if it has been closed
   * meanwhile.
   */
  private static String target(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException e) {
      return "";
    }
  }

  @Test
  void anEnginesOwnFiguresAreBesideThoseOfTheRouter() throws Exception {
    try (var serving = embedded()) {
      complete(serving, "lantern");
      var reported = "";
      for (var engine : List.of("engine-0", "engine-1")) {
        reported += get(serving.gateway().adminUrl() + "/metrics/" + engine).body();
      }
      assertThat(reported)
          .containsPattern("vllm:generation_tokens_total\\{model_name=\"[^\"]+\"} [1-9]");
      var unknown = get(serving.gateway().adminUrl() + "/metrics/engine-7");
      assertThat(unknown.statusCode()).isEqualTo(400);
      assertThat(unknown.body()).contains("engine-0, engine-1");
    }
  }

  /** Until the gateway has heard of blocks that an engine holds. */
  private void awaitBlocks(Serving serving) throws Exception {
    awaitMetric(serving, "kvasir_worker_blocks\\{[^}]*} [1-9]");
  }

  private void awaitMetric(Serving serving, String line) throws Exception {
    var wanted = Pattern.compile(line);
    for (int i = 0; i < 400; i++) {
      if (wanted.matcher(get(serving.gateway().adminUrl() + "/metrics").body()).find()) return;
      Thread.sleep(50);
    }
    throw new AssertionError("not told in 20 seconds: " + line);
  }

  @Test
  void aResetForgetsEveryTierForGoodAndIsForAdminsAlone() throws Exception {
    var keys = folder.resolve("keys");
    Files.writeString(
        keys,
        "ada %s\nroot %s admin\n"
            .formatted(ApiKey.of("ada", "of-ada").sha256(), ApiKey.of("root", "of-root").sha256()));
    bearer = "of-ada";
    try (var serving = embedded("--api-keys", keys.toString())) {
      for (int round = 0; round < 2; round++) {
        assertThat(cached(complete(serving, "lantern"))).isZero();
        assertThat(cached(complete(serving, "lantern"))).isGreaterThanOrEqualTo(64);
        awaitMetric(serving, "kvasir_tier_blocks\\{tier=\"disk\"} [1-9]");
        var reset = serving.gateway().adminUrl() + "/reset_prefix_cache";
        bearer = "of-nobody";
        assertThat(post(reset)).isEqualTo(401);
        bearer = "of-ada";
        assertThat(post(reset)).isEqualTo(403);
        bearer = "of-root";
        assertThat(post(reset)).isEqualTo(200);
        bearer = "of-ada";
      }
      serving.drain();
    }
    try (var serving = embedded("--api-keys", keys.toString())) {
      assertThat(cached(complete(serving, "lantern"))).isZero();
    }
  }

  private int post(String url) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + bearer)
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    return client.send(request, BodyHandlers.ofString()).statusCode();
  }

  @Test
  void aTenantFindsAfterARestartWhatItComputedBefore() throws Exception {
    var keys = folder.resolve("keys");
    Files.writeString(keys, "ada " + ApiKey.of("ada", "opensesame").sha256());
    bearer = "opensesame";
    try (var serving = embedded("--api-keys", keys.toString())) {
      complete(serving, "lantern");
      serving.drain();
    }
    var kept = folder.resolve("cache/tenant-secret");
    assertThat(Files.getPosixFilePermissions(kept))
        .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    try (var serving = embedded("--api-keys", keys.toString())) {
      assertThat(cached(complete(serving, "lantern"))).isGreaterThanOrEqualTo(64);
    }
  }

  @Test
  void aLongPromptIsPlacedElsewhereWithTheUsualThresholds() throws Exception {
    try (var serving = embedded("--placement=always")) {
      preamble = PREAMBLE.repeat(5);
      var answer = complete(serving, "lantern");
      assertThat(answer.headers().firstValue("x-kvasir-prefill-instance")).isPresent();
      assertThat(cached(answer)).isGreaterThanOrEqualTo(256);
    }
  }

  private Deployment settings(String... options) throws IOException {
    var all = new ServeOptions();
    var line = new ArrayList<>(List.of("--port=0", "--admin-port=0", "--device-blocks=128"));
    line.addAll(List.of("--host-blocks=256", "--disk-blocks=512"));
    line.addAll(List.of(options));
    CommandLine.populateCommand(all, line.toArray(String[]::new));
    return all.configuration(Map.of()).read();
  }

  private Serving embedded(String... options) throws IOException {
    return Serving.of(settings(options), folder.resolve("cache"), "test");
  }

  private HttpResponse<String> complete(Serving serving, String word) throws Exception {
    return complete(serving.gateway().url(), word);
  }

  private HttpResponse<String> complete(String url, String word) throws Exception {
    return complete(url, word, 24);
  }

  private HttpResponse<String> complete(String url, String word, int tokens) throws Exception {
    var body =
        """
        {"messages": [{"role": "system", "content": "%s"},
                      {"role": "user", "content": "What is a %s?"}], "max_tokens": %d}\
        """
            .formatted(preamble, word, tokens);
    var request =
        HttpRequest.newBuilder(URI.create(url + "/v1/chat/completions"))
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + bearer)
            .header("x-kvasir-explain", "1")
            .timeout(Duration.ofMinutes(1))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String url) throws Exception {
    return client.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
  }

  private static int cached(HttpResponse<String> response) {
    return json(response).at("/usage/prompt_tokens_details/cached_tokens").asInt();
  }

  private static JsonNode json(HttpResponse<String> response) {
    return JsonMapper.shared().readTree(response.body());
  }
}
