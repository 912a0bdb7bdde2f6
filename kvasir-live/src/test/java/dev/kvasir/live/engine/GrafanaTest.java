package dev.kvasir.live.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.live.http.Network;
import dev.kvasir.live.model.PocketModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The example for Grafana against what a real engine tells. */
class GrafanaTest {
  private static final Path FILE =
      Path.of(System.getProperty("kvasir.root", ".."), "examples", "grafana", "kvasir.json");
  private static final Pattern NAME = Pattern.compile("\\b(?:vllm:|kvasir_)\\w+");
  private static final Pattern GROUPING = Pattern.compile("by \\((\\w+)\\)");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");

  private static JsonNode board;
  private static String told;

  @BeforeAll
  static void ask() throws IOException, InterruptedException {
    board = JsonMapper.shared().readTree(Files.readString(FILE));
    var settings = new EngineGroupSettings(1, 200, 400, 0, null, EngineSettings.DEFAULT);
    try (var model = LoadedModel.builtIn(PocketModel.folder(), 1);
        var group = EngineGroup.open(model, settings);
        var network = Network.open(1);
        var server =
            EngineServer.start(network, HttpSettings.local(0), group.engines().getFirst());
        var client = HttpClient.newHttpClient()) {
      var uri = URI.create(server.front().url() + "/metrics");
      told = client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    }
  }

  @Test
  void everyFigureShownIsTold() {
    var names = found(NAME, told, 0);
    assertThat(names).containsAll(found(NAME, queries(), 0));
  }

  @Test
  void everyFigureOfOurOwnIsShown() {
    var own = found(NAME, told, 0);
    own.removeIf(name -> !name.startsWith("kvasir_"));
    assertThat(found(NAME, queries(), 0)).containsAll(own);
  }

  /** All but the instance, which Prometheus adds. */
  @Test
  void everyLabelThatFiguresAreGroupedByIsTold() {
    var labels = found(LABEL, told, 1);
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
