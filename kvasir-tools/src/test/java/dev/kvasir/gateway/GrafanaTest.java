package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.embedded.EmbeddedCacheState;
import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.EngineServer;
import dev.kvasir.embedded.FaultInjection;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.events.WorkerEvents;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.model.PocketModel;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The example for Grafana against what a real engine and a gateway before it tell. */
@Tag("all")
class GrafanaTest {
  private static final Path FILE =
      Path.of(System.getProperty("kvasir.root", ".."), "examples", "grafana", "kvasir.json");
  private static final Pattern NAME = Pattern.compile("\\b(?:vllm:|kvasir_)\\w+");
  private static final Pattern GROUPING = Pattern.compile("by \\((\\w+)\\)");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");

  /** Told by engines that compute on a GPU. */
  private static final Set<String> ON_GPU =
      Set.of("kvasir_device_computing_seconds_total", "kvasir_device_idle_seconds_total");

  private static JsonNode board;
  private static String metricsText;

  @BeforeAll
  static void readMetrics(@TempDir Path folder) throws IOException, InterruptedException {
    board = JsonMapper.shared().readTree(Files.readString(FILE));
    var settings = EngineGroupSettings.of(1, 200, 400, 64, folder, EngineSettings.DEFAULT);
    try (var model = LoadedModel.builtIn(PocketModel.folder(), 1);
        var group = EngineGroup.open(model, settings);
        var network = Network.open(1);
        var server =
            new EngineServer(
                network, HttpSettings.local(0), group.engines().getFirst(), FaultInjection.NONE);
        var gateway = Gateway.start(network, before(server), extensions(group));
        var client = HttpClient.newHttpClient()) {
      gateway.setEvents(Worker.of(server.front().url()).name(), new NoEvents());
      var request = post(gateway.url() + "/v1/completions");
      assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      metricsText = get(client, server.front().url()) + get(client, gateway.adminUrl());
    }
  }

  private static Gateway.Extensions extensions(EngineGroup group) {
    return new Gateway.Extensions(
        "test", new EmbeddedCacheState(group), List.of(), UnaryOperator.identity(), List.of());
  }

  private static GatewaySettings before(EngineServer server) {
    return GatewaySettings.of(0, List.of(Worker.of(server.front().url())));
  }

  /** A worker whose events are listened to, and which has told none. */
  private static final class NoEvents implements WorkerEvents {
    @Override
    public void check() {
      // It was never out of sight.
    }

    @Override
    public Counts counts() {
      return new Counts(0, 0, 0, 0, 0, 0, Map.of("unknown_parent", 0L), Map.of("malformed", 0L));
    }
  }

  private static HttpRequest post(String url) {
    return HttpRequest.newBuilder(URI.create(url))
        .header("content-type", "application/json")
        .POST(BodyPublishers.ofString("{\"prompt\": \"a lantern\", \"max_tokens\": 2}"))
        .build();
  }

  private static String get(HttpClient client, String url)
      throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url + "/metrics")).build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  @Test
  void everyFigureShownIsTold() {
    var names = found(NAME, metricsText, 0);
    names.addAll(ON_GPU);
    assertThat(names).containsAll(found(NAME, queries(), 0));
  }

  /** Figures that no board shows, with the reason. */
  private static final Map<String, String> NOT_SHOWN =
      Map.of(
          "kvasir_hints_total", "few callers give hints",
          "kvasir_hints_ignored_total", "few callers give hints",
          "kvasir_worker_in_flight_elsewhere", "the sum over gateways is shown");

  @Test
  void everyFigureOfOurOwnIsShown() {
    var own = new TreeSet<String>();
    for (var line : metricsText.lines().toList()) {
      if (line.startsWith("# TYPE kvasir_")) own.add(line.split(" ", -1)[2]);
    }
    assertThat(own).hasSizeGreaterThan(50);
    var queries = queries();
    own.removeIf(name -> Pattern.compile("\\b" + name + "(_bucket)?\\b").matcher(queries).find());
    assertThat(own).isEqualTo(new TreeSet<>(NOT_SHOWN.keySet()));
  }

  /** All but the instance, which Prometheus adds. */
  @Test
  void everyLabelThatFiguresAreGroupedByIsTold() {
    var labels = found(LABEL, metricsText, 1);
    labels.add("instance");
    assertThat(found(GROUPING, queries(), 1)).isNotEmpty().isSubsetOf(labels);
  }

  @Test
  void panelsHaveQueriesAndPlacesOfTheirOwn() {
    var places = new TreeSet<String>();
    for (var panel : board.path("panels")) {
      assertThat(panel.path("targets").size()).as(panel.path("title").asString()).isPositive();
      places.add(panel.at("/gridPos/x") + " " + panel.at("/gridPos/y"));
    }
    assertThat(places).hasSize(board.path("panels").size()).hasSizeGreaterThan(9);
  }

  private static String queries() {
    var queries = new StringBuilder();
    for (var query : board.findValues("expr")) queries.append(query.asString()).append('\n');
    for (var query : board.findValues("query")) queries.append(query.asString()).append('\n');
    return queries.toString();
  }

  private static Set<String> found(Pattern pattern, String text, int group) {
    var found = new TreeSet<String>();
    var matcher = pattern.matcher(text);
    while (matcher.find()) found.add(matcher.group(group));
    return found;
  }
}
