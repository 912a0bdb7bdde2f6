package dev.kvasir.tools.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.net.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/**
 * OpenAI's own client for JavaScript, against gateway and fleet; where Node.js and npm are here.
 */
@Timeout(180)
@Tag("all")
class NpmOpenAiTest {
  private static final String PACKAGE = "openai@6.49.0";
  private static final Path FOLDER = Path.of("target", "npm").toAbsolutePath();
  private static final Path SCRIPT = Path.of("src/test/resources/clients/openai-client.mjs");
  private static final int SECONDS_MAX = 90;

  private static final Map<String, JsonNode> CAME = new LinkedHashMap<>();
  private static ClientScene scene;

  @BeforeAll
  static void runScript() throws Exception {
    assumeTrue(succeeds("node", "--version"), "there is no Node.js here");
    assumeTrue(isInstalled(), "npm could not install " + PACKAGE);
    scene = new ClientScene();
    for (var line : script().lines().toList()) {
      var came = Json.read(line.getBytes(StandardCharsets.UTF_8));
      CAME.put(came.path("scenario").asString(), came);
    }
  }

  @AfterAll
  static void stop() {
    if (scene != null) scene.close();
  }

  @Test
  void aStreamSaysWhatTheWholeAnswerSays() {
    assertThat(came("whole", "text")).isNotBlank().isEqualTo(came("stream", "text"));
    assertThat(came("whole", "tokens")).isEqualTo("20").isEqualTo(came("stream", "tokens"));
  }

  @Test
  void theModelsAreListed() {
    assertThat(came("models").path("names").toString())
        .isEqualTo("[\"" + ClientScene.MODEL + "\",\"" + ToolWorker.MODEL + "\"]");
  }

  @Test
  void toolsReachTheWorkerAndItsCallComesBack() {
    assertThat(came("tool", "name")).isEqualTo("weather");
    assertThat(came("tool", "arguments"))
        .isEqualTo("{\"city\":\"Oslo\"}")
        .isEqualTo(came("streamedTool", "arguments"));
    assertThat(scene.tools().lastRequest().at("/tools/0/function/description").asString())
        .isEqualTo("of a city");
  }

  @Test
  void errorsAreThoseTheClientKnows() {
    assertThat(came("unknownModel", "name")).isEqualTo("NotFoundError");
    assertThat(came("unknownModel", "message")).contains("see /v1/models");
    assertThat(came("badRequest", "name")).isEqualTo("BadRequestError");
    assertThat(came("wrongKey", "name")).isEqualTo("AuthenticationError");
    assertThat(came("tooMany", "name")).isEqualTo("RateLimitError");
  }

  @Test
  void whoGivesUpWaitingOrCancelsLeavesNothingBehind() throws Exception {
    assertThat(came("timeout", "name")).isEqualTo("APIConnectionTimeoutError");
    // What has arrived when the client gives up, it still hands out.
    assertThat(came("cancel").path("chunks").asInt()).isBetween(5, 1_000);
    scene.awaitQuiet();
  }

  private static String came(String scenario, String field) {
    return came(scenario).path(field).asString();
  }

  private static JsonNode came(String scenario) {
    return Objects.requireNonNull(CAME.get(scenario), scenario);
  }

  private static boolean isInstalled() throws Exception {
    if (Files.isDirectory(FOLDER.resolve("node_modules").resolve("openai"))) return true;
    Files.createDirectories(FOLDER);
    var folder = FOLDER.toString();
    return succeeds("npm", "install", "--no-audit", "--no-fund", "--prefix", folder, PACKAGE);
  }

  private static boolean succeeds(String... command) throws InterruptedException {
    try {
      var process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) return process.exitValue() == 0;
      process.destroyForcibly();
      return false;
    } catch (IOException e) {
      return false;
    }
  }

  /** Runs the script and returns what it prints; throws if a client could not do its part. */
  private static String script() throws Exception {
    var command = new ArrayList<>(List.of("node", SCRIPT.toString(), FOLDER.toString()));
    command.addAll(List.of(scene.url(), ClientScene.KEY, ClientScene.SLOW_KEY));
    command.addAll(List.of(ClientScene.MODEL, ToolWorker.MODEL));
    var process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(printed).isZero();
    return printed;
  }
}
