package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.model.PocketModel;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpSettings;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A real client against a real server with the real model. */
class EngineServerTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String QUESTION =
      """
      {"messages": [{"role": "user", "content": "What is a lantern?"}], "max_tokens": 24%s}\
      """;

  private static LoadedModel model;
  private static EngineGroup group;
  private static Network network;
  private static List<EngineServer> servers;
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  @BeforeAll
  static void start() throws IOException {
    model = LoadedModel.builtIn(PocketModel.folder(), 2);
    group =
        EngineGroup.open(
            model, EngineGroupSettings.of(2, 200, 400, 0, null, EngineSettings.DEFAULT));
    network = Network.open(2);
    servers = new ArrayList<>();
    for (var engine : group.engines()) {
      servers.add(new EngineServer(network, HttpSettings.local(0), engine, FaultInjection.NONE));
    }
  }

  @AfterAll
  static void stop() {
    servers.forEach(EngineServer::close);
    network.close();
    group.close();
    model.close();
    CLIENT.close();
  }

  @Test
  void aConversationIsAnsweredWhole() throws Exception {
    var answer = json(post("/v1/chat/completions", QUESTION.formatted("")));
    var choice = answer.at("/choices/0");
    assertThat(choice.at("/message/role").asString()).isEqualTo("assistant");
    assertThat(choice.at("/message/content").asString()).isNotBlank();
    assertThat(choice.at("/finish_reason").asString()).isIn("stop", "length");
    assertThat(answer.at("/usage/prompt_tokens").asInt()).isPositive();
    assertThat(answer.at("/usage/total_tokens").asInt())
        .isEqualTo(
            answer.at("/usage/prompt_tokens").asInt()
                + answer.at("/usage/completion_tokens").asInt());
  }

  @Test
  void aStreamSaysTheSamePieceByPiece() throws Exception {
    var whole = json(post("/v1/chat/completions", QUESTION.formatted("")));
    var options = ", \"stream\": true, \"stream_options\": {\"include_usage\": true}";
    var response = post("/v1/chat/completions", QUESTION.formatted(options));
    assertThat(response.headers().firstValue("content-type").orElse(""))
        .startsWith("text/event-stream");
    var events = events(response.body());
    assertThat(events.getLast()).isEqualTo("[DONE]");
    var text = new StringBuilder();
    var finish = new ArrayList<String>();
    for (var event : events.subList(0, events.size() - 1)) {
      var choice = JSON.readTree(event).at("/choices/0");
      text.append(choice.at("/delta/content").asString(""));
      if (choice.at("/finish_reason").isString())
        finish.add(choice.at("/finish_reason").asString());
    }
    assertThat(text.toString()).isEqualTo(whole.at("/choices/0/message/content").asString());
    assertThat(finish).containsExactly(whole.at("/choices/0/finish_reason").asString());
    var usage = JSON.readTree(events.get(events.size() - 2)).at("/usage");
    assertThat(usage.at("/completion_tokens").asInt())
        .isEqualTo(whole.at("/usage/completion_tokens").asInt());
  }

  @Test
  void aRepeatedPromptIsCached() throws Exception {
    var body = completion("word ".repeat(200), 3);
    post("/v1/completions", body);
    var again = json(post("/v1/completions", body));
    assertThat(again.at("/usage/prompt_tokens_details/cached_tokens").asInt())
        .isGreaterThan(again.at("/usage/prompt_tokens").asInt() - 17);
  }

  @Test
  void aPromptComputedForAnotherEngineIsFoundThere() throws Exception {
    var prompt = "a prompt that one engine computes and another goes on from ".repeat(12);
    var handover = ", \"kv_transfer_params\": {\"do_remote_decode\": true}}";
    var first = completion(prompt, 1).replaceFirst("}$", handover);
    var prefilled = json(post("/v1/completions", first));
    var parameters = prefilled.at("/kv_transfer_params");
    assertThat(parameters.at("/do_remote_prefill").asBoolean()).isTrue();
    assertThat(parameters.at("/remote_engine_id").asString()).isEqualTo("engine-0");
    var second = completion(prompt, 4);
    var decoded = json(post(1, "/v1/completions", second));
    assertThat(decoded.at("/usage/prompt_tokens_details/cached_tokens").asInt())
        .isEqualTo((prefilled.at("/usage/prompt_tokens").asInt() - 1) / 16 * 16);
    assertThat(metrics(1)).contains("kvasir_cached_blocks_total{model_name=\"kvasir-pocket-7m\"");
  }

  @Test
  void logprobsAreTold() throws Exception {
    var chat = QUESTION.formatted(", \"logprobs\": true, \"top_logprobs\": 3");
    var content = json(post("/v1/chat/completions", chat)).at("/choices/0/logprobs/content");
    assertThat(content.size()).isPositive();
    assertThat(content.at("/0/top_logprobs").size()).isEqualTo(3);
    assertThat(content.at("/0/logprob").asDouble()).isLessThanOrEqualTo(0);
    assertThat(content.at("/0/token").asString())
        .isEqualTo(content.at("/0/top_logprobs/0/token").asString());
  }

  @Test
  void aStopStringEndsTheAnswerAndIsNoPartOfIt() throws Exception {
    var whole = json(post("/v1/chat/completions", QUESTION.formatted("")));
    var text = whole.at("/choices/0/message/content").asString();
    var stop = text.substring(text.length() / 2, text.length() / 2 + 3);
    var body = QUESTION.formatted(", \"stop\": " + JSON.writeValueAsString(stop));
    var stopped = json(post("/v1/chat/completions", body)).at("/choices/0");
    assertThat(stopped.at("/message/content").asString())
        .isEqualTo(text.substring(0, text.indexOf(stop)));
    assertThat(stopped.at("/finish_reason").asString()).isEqualTo("stop");
  }

  @Test
  void tokensAndTextBecomeEachOther() throws Exception {
    var tokens = json(post("/tokenize", "{\"prompt\": \"a lantern in the wind\"}")).at("/tokens");
    var text = json(post("/detokenize", "{\"tokens\": " + tokens + "}"));
    assertThat(text.at("/prompt").asString()).isEqualTo("a lantern in the wind");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"prompt\": 7} | 400 | prompt is 7, expected a string",
        "{} | 400 | the request has no prompt",
        "{\"prompt\": \"a\", \"n\": 2} | 400 | one answer for each request",
        "{\"prompt\": \"a\", \"temperature\": -1} | 400 | temperature is -1.0, expected 0.0 to",
        "{\"prompt\": \"a\", \"max_tokens\": 5000} | 400 | the model's context is 1024",
        "{\"prompt\": \"a\", \"model\": \"other\"} | 404 | the model \"other\" is not here",
        "{\"prompt\": [99999]} | 400 | there is no token 99999",
        "{\"prompt\": \"a | 400 | the body is not valid JSON",
        "[] | 400 | the body must be a JSON object",
      })
  void whatIsWrongIsSaid(String body, int status, String message) throws Exception {
    var response = post("/v1/completions", body);
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(json(response).at("/error/message").asString()).contains(message);
  }

  @Test
  void whoLeavesLeavesNothingBehind() throws Exception {
    var body = completion("once upon a time ", 900).replace("}", ", \"stream\": true}");
    var calls = new ArrayList<CompletableFuture<HttpResponse<InputStream>>>();
    for (int i = 0; i < 20; i++) {
      calls.add(
          CLIENT.sendAsync(request(0, "/v1/completions", body), BodyHandlers.ofInputStream()));
    }
    for (var call : calls) call.get(20, TimeUnit.SECONDS).body().close();
    var engine = group.engines().getFirst();
    Eventually.ends(() -> engine.answering() > 0);
    assertThat(engine.answering()).isZero();
    assertThat(engine.load().blocksUsed()).isZero();
  }

  @Test
  void figuresAreTold() throws Exception {
    post("/v1/completions", completion("a", 2));
    assertThat(metrics(0))
        .contains("vllm:num_requests_running{model_name=\"kvasir-pocket-7m\"} ")
        .contains("vllm:time_to_first_token_seconds_bucket")
        .contains("vllm:kv_cache_usage_perc");
  }

  private static String completion(String prompt, int tokensMax) throws IOException {
    return JSON.writeValueAsString(
        new java.util.TreeMap<>(
            Map.of("prompt", prompt, "max_tokens", tokensMax, "ignore_eos", true)));
  }

  private static String metrics(int server) throws Exception {
    var uri = URI.create(servers.get(server).front().url() + "/metrics");
    return CLIENT.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
  }

  private static HttpResponse<String> post(String path, String body) throws Exception {
    return post(0, path, body);
  }

  private static HttpResponse<String> post(int server, String path, String body) throws Exception {
    return CLIENT.send(request(server, path, body), BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private static HttpRequest request(int server, String path, String body) {
    return HttpRequest.newBuilder(URI.create(servers.get(server).front().url() + path))
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private static JsonNode json(HttpResponse<String> response) {
    return JSON.readTree(response.body());
  }

  private static List<String> events(String body) {
    return body.lines()
        .filter(line -> line.startsWith("data: "))
        .map(line -> line.substring("data: ".length()))
        .toList();
  }
}
