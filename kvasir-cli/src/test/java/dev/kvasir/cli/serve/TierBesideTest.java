package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.tierd.TierClient;
import dev.kvasir.tools.fleet.Fleet;
import dev.kvasir.tools.fleet.TestFleet;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A gateway that runs a tier daemon for the engines of its machine. */
@Timeout(180)
class TierBesideTest {
  @TempDir Path temp;

  private ServeOptions options(String workers) throws IOException {
    Files.writeString(
        temp.resolve("tier.yaml"),
        """
        socket: %s
        folder: %s
        buffer-folders: [%s]
        admin-port: 0
        host-bytes: 1048576
        """
            .formatted(temp.resolve("sock"), temp.resolve("tier"), temp));
    var file = temp.resolve("kvasir.yaml");
    Files.writeString(file, workers + "tier-config: tier.yaml\n");
    var options = new ServeOptions();
    CommandLine.populateCommand(
        options, "--port=0", "--admin-port=0", "--config=" + file, "--cache-dir=" + temp);
    return options;
  }

  @Test
  void enginesUseItsTiersAndItsMetricsShowThem() throws Exception {
    try (Fleet fleet = TestFleet.start(TestFleet.settings(1), () -> Duration.ofMillis(1))) {
      var worker = "workers: [{url: \"" + fleet.workers().getFirst().url() + "\"}]\n";
      var settings = options(worker).configuration(Map.of()).read();
      try (var serving = Serving.of(settings, temp.resolve("cache"), "test");
          var engine =
              TierClient.connect(
                  temp.resolve("sock"), temp.resolve("rows"), 8, TierClient.namespace("aa"))) {
        assertThat(engine.store(1, 2, 3)).containsOnly(0);
        assertThat(metrics(serving)).contains("kvasir_tier_blocks{tier=\"host\"} 3\n");
      }
      assertThat(temp.resolve("sock")).as("it ends with the gateway").doesNotExist();
    }
  }

  private static String metrics(Serving serving) throws Exception {
    try (var client = HttpClient.newHttpClient()) {
      var metrics = URI.create(serving.gateway().adminUrl() + "/metrics");
      return client.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString()).body();
    }
  }

  @Test
  void embeddedEnginesHaveTiersOfTheirOwn() throws Exception {
    var settings = options("").configuration(Map.of()).read();
    assertThatThrownBy(() -> Serving.of(settings, temp.resolve("cache"), "test"))
        .hasMessageContaining("tier-config")
        .hasMessageContaining("tiers");
  }
}
