package dev.kvasir.cli.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.kv.event.Tier;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The page of all keys says what the records say, and the example runs. */
class ConfigurationPageTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final Pattern ROW = Pattern.compile("\\| `([^`]+)` \\| ([^|]+) \\|([^|]*)\\|.*");

  /** Keys that every tier has, which are on the page once. */
  private static final Pattern COMMON =
      Pattern.compile("^tiers\\.\\w+\\.(edge|size$|link$|latency$)");

  @TempDir private Path folder;

  @Test
  void thePageHasEveryKeyWithItsKindAndDefaultAndNoOther() throws IOException {
    var written = new ArrayList<String>();
    for (var line : Files.readAllLines(ROOT.resolve("docs/configuration.md"))) {
      var row = ROW.matcher(line);
      if (!row.matches()) continue;
      var usual = row.group(3).replace("`", "").strip();
      written.add(row.group(1) + " | " + row.group(2) + " | " + usual);
    }
    var known = new TreeSet<String>();
    for (var key : KeyPaths.of(Deployment.DEFAULT)) {
      var path = COMMON.matcher(key.path()).replaceFirst("tiers.*.$1");
      known.add(path + " | " + key.kind() + " | " + key.usual());
    }
    assertThat(written).containsExactlyInAnyOrderElementsOf(known);
  }

  @Test
  void theExampleServes() throws Exception {
    var settings = example(ROOT.resolve("examples/kvasir.yaml"));
    assertThat(
            requireNonNull(settings.tiers().tieredCache(0).on(Tier.DISK))
                .edge()
                .pipeline()
                .transfersMax())
        .isEqualTo(2);
    try (var serving = Serving.of(settings, folder, "test");
        var client = HttpClient.newHttpClient()) {
      var url = URI.create(serving.gateway().url() + "/v1/models");
      var answer = client.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("kvasir-pocket-7m");
    }
  }

  @Test
  void whatTheExampleOnlySuggestsCanBeMeant() throws Exception {
    var all = new ArrayList<String>();
    for (var line : Files.readAllLines(ROOT.resolve("examples/kvasir.yaml"))) {
      all.add(line.startsWith("# ") ? line.substring(2) : line);
    }
    var file = Files.write(folder.resolve("kvasir.yaml"), all);
    Files.writeString(folder.resolve("keys"), "ada " + "0".repeat(64));
    var settings = example(file);
    assertThat(settings.workers()).hasSize(2);
    var lines = new Lines();
    new TieredCacheText(settings, folder, lines).addLines();
    assertThat(String.join("\n", lines.all()))
        .contains("known on Redis at 127.0.0.1:6379, kept for 1d")
        .contains("known in bucket kvasir at http://127.0.0.1:9000, kept for 7d")
        .contains("asked for what others stored, 50ms at most");
  }

  private Deployment example(Path file) throws IOException {
    var options = new ServeOptions();
    var line = List.of("--config=" + file, "--port=0", "--admin-port=0", "--cache-dir=" + folder);
    CommandLine.populateCommand(options, line.toArray(String[]::new));
    var variables = Map.of("KVASIR_FILES_CAPTURE", folder.resolve("traffic.jsonl").toString());
    return options.configuration(variables).read();
  }
}
