package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Unpacks the zip that the build makes, elsewhere, and runs what is in it. */
final class DistributionIT {
  private static final String QUESTION =
      "{\"messages\": [{\"role\": \"user\", \"content\": \"What is a lantern?\"}]}";

  @TempDir private Path folder;
  private final LinkedHashMap<String, String> environment = new LinkedHashMap<>();
  private Path home = Path.of("");

  @BeforeEach
  void unpack() throws Exception {
    environment.putAll(System.getenv()); // it finds the JDK that the build has found
    environment.put("XDG_CACHE_HOME", folder.resolve("caches").toString());
    var zip = only(Script.projectRoot().resolve("kvasir-cli/target"), "kvasir-.*\\.zip");
    var place = Files.createDirectory(folder.resolve("another place"));
    assumeThat(Script.onThePath("unzip")).as("unzip, to unpack it with").isPresent();
    var unzip = Script.start(environment, place, "unzip", "-q", zip.toString()).finish();
    assertThat(unzip.exit()).as(unzip.err()).isZero();
    home = only(place, "kvasir-.*");
  }

  @Test
  void whatIsUnpackedRunsWithItsCacheAndWithoutMaven() throws Exception {
    var jar = home.resolve("lib/kvasir.jar");
    long seconds = Files.getLastModifiedTime(jar).toMillis() / 1_000;
    assertThat(only(home.resolve("lib"), ".*\\.aot").toString()).endsWith("-" + seconds + ".aot");
    environment.put("KVASIR_JAVA_OPTS", "-XX:AOTMode=on"); // a cache that does not fit is an error

    var help = kvasir("--help");
    var version = kvasir("--version");

    assertThat(help.exit()).as(help.out() + help.err()).isZero();
    assertThat(help.out()).contains("Commands:").doesNotContain("rehearse");
    assertThat(version.out()).startsWith("kvasir ").contains("JDK ");
    assertThat(help.err() + version.err()).isEmpty();
  }

  @Test
  void chartLibraryComesWithItsLicence() throws Exception {
    try (var jar = new JarFile(home.resolve("lib/kvasir.jar").toFile());
        var script = jar.getInputStream(jar.getEntry("dev/kvasir/chart/charts.js"))) {
      assertThat(new String(script.readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("/*!\nThe MIT License (MIT)");
    }
  }

  @Test
  void itServesAnAnswer() throws Exception {
    var command = List.of(home.resolve("kvasir").toString(), "serve", "--port=0", "--admin-port=0");
    var server = ServerProcess.start(command, environment);
    try (var client = HttpClient.newHttpClient()) {
      var question =
          HttpRequest.newBuilder(URI.create(server.url() + "/v1/chat/completions"))
              .header("content-type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(QUESTION))
              .build();
      var answer = client.send(question, BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("\"finish_reason\":\"stop\"");
    } finally {
      server.stop();
    }
  }

  private Script.Result kvasir(String... args) throws Exception {
    var command = new String[args.length + 1];
    command[0] = home.resolve("kvasir").toString();
    System.arraycopy(args, 0, command, 1, args.length);
    return Script.start(environment, folder, command).finish();
  }

  private static Path only(Path folder, String name) throws IOException {
    try (var files = Files.list(folder)) {
      var found = files.filter(file -> file.getFileName().toString().matches(name)).toList();
      assertThat(found).as(name + " in " + folder).hasSize(1);
      return found.getFirst();
    }
  }
}
