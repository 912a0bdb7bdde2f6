package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.request.ApiPath;
import dev.kvasir.gateway.request.MediaParts;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.Json;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The paths besides chats and completions: passed on, booked, and routed by their prompts. */
@Timeout(180)
class ApiPathsTest {
  private static final String LONG = "once upon a time ".repeat(100);
  private static final String MESSAGES =
      """
      event: message_start
      data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":0}}}

      event: content_block_start
      data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}

      event: content_block_delta
      data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}

      event: content_block_delta
      data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}

      event: content_block_stop
      data: {"type":"content_block_stop","index":0}

      event: message_delta
      data: {"type":"message_delta","delta":{},"usage":{"input_tokens":4,"output_tokens":2,\
      "cache_read_input_tokens":5}}

      event: message_stop
      data: {"type":"message_stop"}

      """;
  private static final String RESPONSES =
      """
      event: response.created
      data: {"type":"response.created","response":{"id":"r","usage":null}}

      event: response.output_text.delta
      data: {"type":"response.output_text.delta","delta":"a"}

      event: response.completed
      data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":9,\
      "output_tokens":2,"input_tokens_details":{"cached_tokens":5}}}}

      """;

  private RawScene scene = new RawScene();

  @TempDir private Path folder;

  @AfterEach
  void stop() throws Exception {
    scene.assertBooksAreEmpty();
    scene.close();
  }

  private void reopen(UnaryOperator<GatewaySettings> change) {
    scene.close();
    scene = new RawScene(UnaryOperator.identity(), change);
  }

  @Test
  void everyPathReachesAWorkerAndIsCounted() throws Exception {
    scene.completing(call -> call.json(200, "{\"path\":\"" + call.path() + "\"}"));
    for (var path : ApiPath.values()) {
      if (path.work() == ApiPath.Work.AUDIO) continue;
      var answer = scene.post(path.path(), "{\"model\":\"tiny\"}");
      assertThat(answer.statusCode()).as(path.path()).isEqualTo(200);
      assertThat(answer.body()).contains(path.path());
    }
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics())
        .contains("kvasir_path_requests_total{path=\"/v1/rerank\"} 1\n")
        .contains("kvasir_path_requests_total{path=\"/detokenize\"} 1\n");
  }

  @Test
  void streamsOfNamedEventsAreBookedToTheirEnd() throws Exception {
    var log = folder.resolve("requests.jsonl");
    reopen(s -> s.with(new JournalFiles(log, null, null)));
    for (var stream : List.of(MESSAGES, RESPONSES)) {
      scene.completing(
          call -> {
            call.streamHead();
            call.send(stream);
            call.close();
          });
      var path = stream.equals(MESSAGES) ? ApiPath.MESSAGES : ApiPath.RESPONSES;
      var answer = scene.post(path.path(), "{\"model\":\"tiny\",\"stream\":true}");
      assertThat(answer.body()).isEqualTo(stream);
    }
    var lines = lines(log);
    assertThat(lines).hasSize(2);
    for (var line : lines) {
      assertThat(line.path("outcome").asString()).as("%s", line).isEqualTo("complete");
      assertThat(line.path("told_prompt_tokens").asInt()).isEqualTo(9);
      assertThat(line.path("told_cached_tokens").asInt()).isEqualTo(5);
      assertThat(line.path("output_tokens").asInt()).isEqualTo(2);
    }
  }

  @Test
  void aStreamThatBeginsBeforeItsPrefillIsTriedElsewhereWhenItBreaks() {
    scene.first.completing(RawWorker.Call::close);
    scene.second.completing(RawWorker.Call::close);
    var calls = new ArrayList<String>();
    scene.completing(
        call -> {
          call.streamHead();
          // The first one has not computed a token when it breaks.
          call.send(calls.isEmpty() ? RESPONSES.substring(0, 80) : RESPONSES);
          calls.add(call.path());
          call.close();
        });
    var answer = scene.post("/v1/responses", "{\"model\":\"tiny\",\"stream\":true}");
    assertThat(answer.body()).isEqualTo(RESPONSES);
    assertThat(calls).hasSize(2);
  }

  @Test
  void aBrokenStreamEndsWithAnErrorThatClientsHear() {
    var half = MESSAGES.substring(0, MESSAGES.indexOf("event: content_block_stop"));
    scene.completing(
        call -> {
          call.streamHead();
          call.send(half);
          call.close();
        });
    var answer = scene.post("/v1/messages", "{\"model\":\"tiny\",\"stream\":true}");
    assertThat(answer.body())
        .startsWith(half)
        .contains("event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":");
  }

  @Test
  void promptsOfOtherFormsAreNamedByTheTokensOfTheirChat() throws Exception {
    reopen(s -> s.with(s.routing().with(Routing.Naming.TOKENS)));
    RawWorker.Script tokenize = call -> call.json(200, "{\"tokens\":[" + "7,".repeat(47) + "7]}");
    scene.first.on("/tokenize", tokenize);
    scene.second.on("/tokenize", tokenize);
    scene.completing(call -> call.json(200, "{}"));
    awaitCached("/v1/messages", "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]");
    awaitCached("/v1/responses", "\"input\":\"hi\"");
    scene.post("/v1/responses", "{\"model\":\"tiny\",\"previous_response_id\":\"r\"}");
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics())
        .contains("kvasir_prompts_named_total{by=\"bytes\",reason=\"form\"} 1\n");
  }

  /** Asks until a worker told the tokens in time and the prompt was found where it was before. */
  private void awaitCached(String path, String more) {
    for (int i = 0; i < 200; i++) {
      var answer = scene.post(path, "{\"model\":\"tiny\"," + more + "}");
      var cached = answer.headers().firstValue("x-kvasir-cached-tokens").orElseThrow();
      // The last token is always computed.
      if (cached.equals("47")) return;
    }
    throw new AssertionError(path + " is never found: " + scene.metrics());
  }

  @Test
  void imagesInResultsOfToolsAreNotText() throws Exception {
    var log = folder.resolve("requests.jsonl");
    reopen(s -> s.with(new JournalFiles(log, null, null)));
    scene.completing(call -> call.json(200, "{}"));
    var image = "{\"type\":\"image\",\"source\":{\"data\":\"" + LONG.repeat(50) + "\"}}";
    var result = "{\"type\":\"tool_result\",\"content\":[" + image + "]}";
    scene.post(
        "/v1/messages",
        "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":[" + result + "]}]}");
    var shown = "{\"type\":\"input_image\",\"image_url\":\"" + LONG.repeat(50) + "\"}";
    scene.post(
        "/v1/responses",
        "{\"model\":\"tiny\",\"input\":[{\"type\":\"function_call_output\",\"output\":["
            + shown
            + "]}]}");
    for (var line : lines(log)) {
      assertThat(line.path("prompt_tokens").asInt())
          .isBetween(MediaParts.TOKENS, MediaParts.TOKENS + 40);
    }
  }

  @Test
  void audioGoesOnAsItCameAndCountsAsUnknown() throws Exception {
    var log = folder.resolve("requests.jsonl");
    reopen(s -> s.with(new JournalFiles(log, null, null)));
    scene.completing(call -> call.json(200, "{\"text\":\"hello\"}"));
    var body =
        """
        --xyz\r
        content-disposition: form-data; name="model"\r
        \r
        tiny\r
        --xyz\r
        content-disposition: form-data; name="file"; filename="a.wav"\r
        content-type: audio/wav\r
        \r
        RIFF\r
        --xyz--\r
        """;
    var path = ApiPath.TRANSCRIPTIONS.path();
    assertThat(form("multipart/form-data; boundary=xyz", path, body)).isEqualTo(200);
    var seen = Stream.concat(scene.first.seen().stream(), scene.second.seen().stream()).toList();
    assertThat(seen).hasSize(1);
    assertThat(seen.getFirst().body()).isEqualTo(body);
    assertThat(seen.getFirst().headers())
        .containsEntry("content-type", "multipart/form-data; boundary=xyz");
    assertThat(form("multipart/form-data; boundary=xyz", path, body.replace("tiny", "huge")))
        .isEqualTo(404);
    assertThat(form("multipart/form-data", path, body)).isEqualTo(400);
    assertThat(form("application/json", path, "{}")).isEqualTo(415);
    assertThat(form("multipart/form-data; boundary=xyz", "/v1/messages", body)).isEqualTo(415);
    var line = lines(log).getFirst();
    assertThat(line.path("prompt_tokens").asInt()).isEqualTo(MediaParts.TOKENS);
    assertThat(line.path("model").asString()).isEqualTo("tiny");
  }

  private int form(String type, String path, String body) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(scene.gateway.url() + path))
            .header("content-type", type)
            .POST(BodyPublishers.ofString(body))
            .build();
    return scene.client.send(request, BodyHandlers.ofString()).statusCode();
  }

  @Test
  void whatNoEngineComputesIsNoPrompt() throws Exception {
    var capture = folder.resolve("capture.jsonl");
    reopen(s -> s.with(new JournalFiles(null, capture, null)));
    scene.completing(call -> call.json(200, "{\"tokens\":[1,2]}"));
    // A worker's own /tokenize is what it is asked for by callers, too.
    scene.post("/tokenize", "{\"model\":\"tiny\",\"prompt\":\"" + LONG + "\"}");
    scene.post("/v1/messages/count_tokens", "{\"model\":\"tiny\",\"messages\":[]}");
    scene.post("/v1/completions", "{\"model\":\"tiny\",\"prompt\":\"once upon\"}");
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics()).contains("kvasir_prompt_tokens_total 2\n");
    assertThat(lines(capture)).hasSize(1);
  }

  @Test
  void aKeyMayComeAsClientsOfAnthropicSendIt() throws Exception {
    reopen(s -> s.at(s.api().with(new ApiKeys(List.of(ApiKey.of("ada", "k")))), s.admin()));
    for (var key : List.of("k", "other")) {
      var request =
          HttpRequest.newBuilder(URI.create(scene.gateway.url() + "/v1/messages"))
              .header("content-type", "application/json")
              .header("x-api-key", key)
              .POST(BodyPublishers.ofString("{\"model\":\"tiny\"}"))
              .build();
      var answer = scene.client.send(request, BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(key.equals("k") ? 200 : 401);
    }
  }

  /** The lines of a file, once the gateway has written all of them. */
  private List<JsonNode> lines(Path file) throws Exception {
    scene.assertBooksAreEmpty();
    scene.gateway.close();
    var lines = new ArrayList<JsonNode>();
    for (var line : Files.readAllLines(file)) {
      var read = Json.read(line.getBytes(StandardCharsets.UTF_8));
      if (read.has("id")) lines.add(read);
    }
    reopen(UnaryOperator.identity());
    return lines;
  }
}
