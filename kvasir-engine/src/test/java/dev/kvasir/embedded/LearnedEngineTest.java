package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.model.PocketModel;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.tiers.TieredCacheSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Embedded engines that learn who returns. */
@Tag("all")
class LearnedEngineTest {
  private static final String PROMPT = "a conversation that may go on or may not ".repeat(8);

  private static LoadedModel model;
  private static Network network;
  private final HttpClient client = HttpClient.newHttpClient();

  @TempDir private Path folder;

  @BeforeAll
  static void start() throws IOException {
    model = LoadedModel.builtIn(PocketModel.folder(), 2);
    network = Network.open(2);
  }

  @AfterAll
  static void stop() {
    network.close();
    model.close();
  }

  @Test
  void whatEnginesLearntOutlastsTheirRestart() throws Exception {
    byte[] learnt;
    try (var group = open("kv")) {
      complete(group, "x-kvasir-session", "talk");
      learnt = learned(group);
    }
    for (var tier : new String[] {"engine-0", "host", "disk"}) {
      assertThat(folder.resolve("kv-" + tier + ".learned")).exists();
    }
    assertThat(Files.readAllBytes(folder.resolve("kv-engine-0.learned"))).isEqualTo(learnt);
    try (var group = open("kv")) {
      assertThat(learned(group)).isEqualTo(learnt);
    }
  }

  @Test
  void whatCallersSayReachesEvictionAtOnceOrLater() throws Exception {
    try (var silent = open("a");
        var opened = open("b");
        var ended = open("c")) {
      complete(silent, "x-kvasir-session", "talk");
      complete(opened, "x-kvasir-session", "talk", "x-kvasir-last-turn", "true");
      complete(ended, "x-kvasir-session", "talk");
      assertThat(learned(opened)).isNotEqualTo(learned(silent));
      assertThat(learned(ended)).isEqualTo(learned(silent));
      end(ended, "other");
      assertThat(learned(ended)).isEqualTo(learned(silent));
      end(ended, "talk");
      assertThat(learned(ended)).isEqualTo(learned(opened));
    }
  }

  @Test
  void enginesTellWhatEvictionGained() throws Exception {
    try (var group = open("kv");
        var server = serve(group)) {
      var request = HttpRequest.newBuilder(URI.create(server.front().url() + "/metrics"));
      var text = client.send(request.build(), BodyHandlers.ofString()).body();
      for (var tier : new String[] {"device", "host", "disk"}) {
        assertThat(text)
            .containsPattern("kvasir_eviction_gained_blocks\\{[^}]*tier=\"" + tier + "\"\\} 0")
            .containsPattern("kvasir_eviction_bytes\\{[^}]*tier=\"" + tier + "\"\\} [1-9]");
      }
    }
  }

  private EngineGroup open(String name) throws IOException {
    var settings =
        new EngineGroupSettings(
            1,
            64,
            TieredCacheSettings.of(128, 256),
            folder.resolve(name),
            EngineSettings.DEFAULT,
            "learned",
            EvictionLimits.NONE);
    return EngineGroup.open(model, settings);
  }

  private static EngineServer serve(EngineGroup group) {
    return new EngineServer(
        network, HttpSettings.local(0), group.engines().getFirst(), FaultInjection.NONE);
  }

  private void complete(EngineGroup group, String... headers) throws Exception {
    var body = "{\"prompt\":\"" + PROMPT + "\",\"max_tokens\":4,\"temperature\":0}";
    try (var server = serve(group)) {
      var request =
          HttpRequest.newBuilder(URI.create(server.front().url() + "/v1/completions"))
              .header("content-type", "application/json")
              .headers(headers)
              .POST(BodyPublishers.ofString(body));
      var answer = client.send(request.build(), BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }
  }

  private void end(EngineGroup group, String session) throws Exception {
    try (var server = serve(group)) {
      var url = URI.create(server.front().url() + "/v1/sessions/" + session);
      var answer =
          client.send(HttpRequest.newBuilder(url).DELETE().build(), BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(200);
    }
  }

  /** Returns what the first engine's memory has learned, read on its loop. */
  private static byte[] learned(EngineGroup group) {
    var answer = new CompletableFuture<byte[]>();
    var memory = group.engines().getFirst().memory();
    group.loop().execute(() -> answer.complete(memory.saveLearned()));
    return answer.join();
  }
}
