package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.net.Json;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tests what one tenant can learn of another, and others of both. */
@Timeout(180)
class TenantsApartTest {
  private static final String PROMPT =
      "{\"model\":\"tiny\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\""
          + "a prompt that fills some blocks, ".repeat(20)
          + "\"}]}";

  private final Scene scene = new Scene();

  @TempDir private Path folder;

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void aTenantSeesItsOwnDecisionsOnTheDashboardAndNoAddresses() throws Exception {
    var root = ApiKey.of("root", "r").in(ApiKey.Scope.ADMIN);
    open(JournalFiles.NONE, root);
    for (var key : List.of("a", "a", "b")) scene.postAs(key, PROMPT);
    scene.assertBooksAreEmpty();
    assertThat(rows("a")).hasSize(2).allMatch(row -> row.path("tenant").asString().equals("ada"));
    assertThat(rows("b")).hasSize(1);
    assertThat(rows("r")).hasSize(3);
    assertThat(state("r").at("/instances/0/url").asString()).startsWith("http://");
    assertThat(state("a").toString()).doesNotContain("http://");
  }

  @Test
  void aCaptureDoesNotConfirmAGuessedPrompt() throws Exception {
    var names = new ArrayList<List<String>>();
    for (int i = 0; i < 2; i++) {
      var capture = folder.resolve("capture-" + i);
      open(new JournalFiles(null, capture, null));
      for (var key : List.of("a", "a", "b")) scene.postAs(key, PROMPT);
      scene.assertBooksAreEmpty();
      scene.gateway.close();
      for (var line : Files.readAllLines(capture)) names.add(blocks(line));
    }
    assertThat(names).hasSize(6).allMatch(blocks -> blocks.size() > 5);
    assertThat(names.get(0)).as("of one tenant, in one capture").isEqualTo(names.get(1));
    assertThat(names.get(0)).as("of another").doesNotContainAnyElementsOf(names.get(2));
    assertThat(names.get(0)).as("in another capture").doesNotContainAnyElementsOf(names.get(3));
  }

  @Test
  void aCaptureRepeatsNothingThatCallersWrite() throws Exception {
    var written = new ArrayList<String>();
    for (int i = 0; i < 2; i++) {
      var capture = folder.resolve("written-" + i);
      open(new JournalFiles(null, capture, null));
      var fields =
          "\"user\":\"word-1\",\"cache_salt\":\"word-2\",\"prompt_cache_key\":\"word-3\","
              + "\"metadata\":{\"word-4\":\"word-5\"},";
      var request =
          scene
              .request(Scene.CHAT)
              .header("content-type", "application/json")
              .header("authorization", "Bearer a")
              .header("x-request-id", "word-6")
              .header("user-agent", "word-7")
              .POST(BodyPublishers.ofString(PROMPT.replaceFirst("\\{", "{" + fields)));
      assertThat(scene.send(request).statusCode()).isEqualTo(200);
      scene.assertBooksAreEmpty();
      scene.gateway.close();
      written.add(Files.readString(capture));
    }
    assertThat(written)
        .noneMatch(text -> text.contains("word-"))
        .noneMatch(text -> text.matches("(?s).*\\bada\\b.*"));
    for (var field : List.of("id", "session", "tenant")) {
      var names =
          written.stream()
              .map(line -> Json.read(line.getBytes(StandardCharsets.UTF_8)).path(field).asString());
      assertThat(names)
          .as(field)
          .doesNotHaveDuplicates()
          .allMatch(name -> name.matches("[0-9a-f]{16,}"));
    }
  }

  @Test
  void aTenantsSessionIsNotAnothersOfTheSameName() {
    open(JournalFiles.NONE);
    var body = "{\"model\":\"tiny\",\"prompt_cache_key\":\"mine\"}";
    for (var key : List.of("a", "b", "a", "b")) scene.postAs(key, body);
    assertThat(scene.gateway.onLoop(() -> scene.gateway.router().sessions())).isEqualTo(2);
  }

  private void open(JournalFiles files, ApiKey... more) {
    var keys = new ArrayList<ApiKey>(List.of(more));
    keys.add(ApiKey.of("ada", "a"));
    keys.add(ApiKey.of("bob", "b"));
    var secret = NameKey.of("the same after a restart");
    scene.reopen(
        s -> s.at(s.api().with(new ApiKeys(keys)), s.admin()).with(files).with("", secret));
  }

  private JsonNode state(String key) {
    var request = scene.request("/dashboard/state").header("authorization", "Bearer " + key);
    return Json.read(Scene.bytes(scene.send(request)));
  }

  private List<JsonNode> rows(String key) {
    var rows = new ArrayList<JsonNode>();
    for (var row : state(key).path("decisions")) rows.add(row);
    return rows;
  }

  private static List<String> blocks(String line) {
    var blocks = new ArrayList<String>();
    var bytes = line.getBytes(StandardCharsets.UTF_8);
    for (var block : Json.read(bytes).path("blocks")) blocks.add(block.asString());
    return blocks;
  }
}
