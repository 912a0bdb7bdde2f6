package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.net.Json;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.router.limit.KeyLimits;
import io.vertx.core.http.HttpMethod;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class GatewayTest {
  private final Scene scene = new Scene();

  @AfterEach
  void stop() {
    scene.close();
  }

  @TempDir private Path folder;

  @Test
  void aStreamComesThroughByteForByte() throws Exception {
    var answer = scene.stream(Plan.GOOD);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type").orElseThrow())
        .isEqualTo("text/event-stream; charset=utf-8");
    assertThat(answer.body())
        .startsWith("data: {\"n\":0,\"text\":\"größé\"}\n\ndata: {\"n\":1,")
        .endsWith("\"completion_tokens\":8}}\n\ndata: [DONE]\n\n");
  }

  @Test
  void theBodyReachesTheWorkerByteForByte() throws Exception {
    var body = "{ \"model\" : \"tiny\",\n \"messages\": [ {\"role\":\"user\"} ], \"x\":1.50 }";
    assertThat(scene.post(Scene.CHAT, body).statusCode()).isEqualTo(200);
    assertThat(scene.seen()).singleElement().extracting(ScriptedWorker.Seen::text).isEqualTo(body);
  }

  @Test
  void onlyHarmlessHeadersReachTheWorker() throws Exception {
    var request =
        scene
            .request(Scene.CHAT)
            .header("content-type", "application/json")
            .header("authorization", "Bearer secret")
            .header("cookie", "a=b")
            .header("x-request-id", "mine")
            .header("traceparent", "00-1-2-03")
            .POST(BodyPublishers.ofString("{\"model\":\"tiny\"}"));
    var answer = scene.send(request);
    assertThat(answer.headers().firstValue("x-request-id").orElseThrow()).startsWith("mine-");
    assertThat(scene.seen().getFirst().headers())
        .doesNotContainKeys("authorization", "cookie")
        .containsEntry("traceparent", "00-1-2-03")
        .hasEntrySatisfying("x-request-id", id -> assertThat(id).startsWith("mine-"));
  }

  @Test
  void modelsOfAllWorkersAreListedOnce() throws Exception {
    var list = Json.read(Scene.bytes(scene.get("/v1/models"))).path("data");
    assertThat(list.size()).isEqualTo(1);
    assertThat(list.path(0).path("id").asString()).isEqualTo("tiny");
    assertThat(scene.post(Scene.CHAT, "{\"model\":\"huge\"}").statusCode()).isEqualTo(404);
  }

  @Test
  void oneModelIsToldByItsName() throws Exception {
    var listed = Json.read(Scene.bytes(scene.get("/v1/models"))).path("data").path(0);
    var one = scene.get("/v1/models/tiny");
    assertThat(one.statusCode()).isEqualTo(200);
    assertThat(Json.read(Scene.bytes(one))).isEqualTo(listed);
    assertThat(scene.get("/v1/models/t%69ny").statusCode()).isEqualTo(200);
    for (var other : List.of("huge", "meta-llama/Llama-3", "tiny/x", "ti+ny", "x".repeat(257))) {
      var answer = scene.get("/v1/models/" + other);
      assertThat(answer.statusCode()).as(other).isEqualTo(other.length() > 256 ? 400 : 404);
      assertThat(answer.body()).contains("model");
    }
    assertThat(scene.get("/v1/models/").statusCode()).isEqualTo(404);
  }

  @Test
  void whatIsNoRequestIsRefusedBeforeAnybodySeesIt() throws Exception {
    for (var body : List.of("", "[]", "{", "{\"model\":1}", "{\"a\":1}{}", "{\"a\":1,\"a\":2}")) {
      assertThat(scene.post(Scene.CHAT, body).statusCode()).as(body).isEqualTo(400);
    }
    assertThat(scene.post("/v1/batches", "{}").statusCode()).isEqualTo(404);
    assertThat(scene.post("/reset_prefix_cache", "{}").statusCode()).isEqualTo(404);
    assertThat(scene.seen()).isEmpty();
  }

  @Test
  void everyEndpointHasItsAccess() {
    var public_ =
        Stream.concat(
                scene.gateway.api().endpoints().all().stream(),
                scene.gateway.admin().endpoints().all().stream())
            .filter(endpoint -> endpoint.access() == Access.PUBLIC)
            .map(endpoint -> endpoint.method() + " " + endpoint.path());
    // The files of the dashboard come out of the jar; what it shows takes a key.
    assertThat(public_)
        .containsExactly(
            "GET /health",
            "GET /ready",
            "GET /",
            "GET /dashboard/style.css",
            "GET /dashboard/icon.svg",
            "GET /dashboard/main.js",
            "GET /dashboard/view.js",
            "GET /dashboard/server.js",
            "GET /dashboard/words.js",
            "GET /dashboard/spark.js",
            "GET /dashboard/charts.js",
            "GET /dashboard/prompt.js",
            "GET /metrics");
    assertThat(scene.gateway.api().endpoints().all())
        .noneMatch(endpoint -> endpoint.access() == Access.ADMIN);
  }

  @Test
  void everyEndpointThatNeedsAKeyRefusesWhoHasNone() throws Exception {
    var keys = new ApiKeys(List.of(ApiKey.of("ada", "a"), ApiKey.of("bob", "b")));
    scene.reopen(s -> s.at(s.api().with(keys), s.admin().with(keys)));
    for (var endpoint : scene.gateway.api().endpoints().all()) {
      int expected = endpoint.access() == Access.PUBLIC ? 200 : 401;
      var request =
          scene
              .request(path(endpoint))
              .header("content-type", "application/json")
              .method(endpoint.method().name(), body(endpoint));
      assertThat(scene.send(request).statusCode()).as(endpoint.toString()).isEqualTo(expected);
    }
    for (var endpoint : scene.gateway.admin().endpoints().all()) {
      if (endpoint.access() == Access.PUBLIC) continue;
      var request =
          HttpRequest.newBuilder(URI.create(scene.gateway.adminUrl() + path(endpoint)))
              .header("content-type", "application/json")
              .method(endpoint.method().name(), body(endpoint));
      assertThat(scene.send(request).statusCode()).as(endpoint.toString()).isEqualTo(401);
    }
  }

  private static String path(Endpoint endpoint) {
    boolean hasSegment = endpoint.path().length() > 1 && endpoint.path().endsWith("/");
    return hasSegment ? endpoint.path() + "x" : endpoint.path().replace('*', 'x');
  }

  private static BodyPublisher body(Endpoint endpoint) {
    boolean post = endpoint.method().equals(HttpMethod.POST);
    return post ? BodyPublishers.ofString("{}") : BodyPublishers.noBody();
  }

  @Test
  void tenantsAreSaltedApart() throws Exception {
    var keys = new ApiKeys(List.of(ApiKey.of("ada", "a"), ApiKey.of("bob", "b")));
    scene.reopen(s -> s.at(s.api().with(keys), s.admin()));
    scene.postAs("a", "{\"model\":\"tiny\"}");
    scene.postAs("a", "{\"model\":\"tiny\"}");
    scene.postAs("b", "{\"model\":\"tiny\"}");
    scene.postAs("b", "{\"model\":\"tiny\",\"cache_salt\":\"guessed\"}");
    var salts = scene.seen().stream().map(s -> s.body().path("cache_salt").asString()).toList();
    assertThat(salts).allSatisfy(salt -> assertThat(salt).matches("[0-9a-f]{64}"));
    assertThat(salts.stream().distinct()).hasSize(3);
  }

  @Test
  void aKeyHasItsRate() throws Exception {
    var limited = ApiKey.of("ada", "a").with(new KeyLimits(2, 1_000, 10));
    scene.reopen(s -> s.at(s.api().with(new ApiKeys(List.of(limited))), s.admin()));
    assertThat(scene.postAs("a", "{}").statusCode()).isEqualTo(200);
    assertThat(scene.postAs("a", "{}").statusCode()).isEqualTo(200);
    var third = scene.postAs("a", "{}");
    assertThat(third.statusCode()).isEqualTo(429);
    assertThat(Integer.parseInt(third.headers().firstValue("retry-after").orElseThrow()))
        .isBetween(1, 31);
  }

  @Test
  void theSamePromptGoesWhereItWas() throws Exception {
    var prompt = "once upon a time ".repeat(200);
    var names = new ArrayList<String>();
    for (int i = 0; i < 6; i++) {
      var messages = "[{\"role\":\"user\",\"content\":\"" + prompt + "\"}]";
      var answer = scene.chat(Plan.GOOD, "\"messages\":" + messages);
      names.add(answer.headers().firstValue("x-kvasir-instance").orElseThrow());
    }
    assertThat(names.stream().distinct()).hasSize(1);
  }

  @Test
  void decisionsAreExplainedLoggedCapturedAndCounted() throws Exception {
    var log = folder.resolve("decisions.jsonl");
    var capture = folder.resolve("capture.jsonl");
    scene.reopen(s -> s.with(new JournalFiles(log, capture, null)));
    var answer =
        scene.chat(
            Plan.GOOD,
            "\"stream\":true,\"messages\":[\"a secret prompt of some length that fills several"
                + " blocks of bytes, truly\"]");
    assertThat(answer.headers().map())
        .containsKeys("x-kvasir-route-class", "x-kvasir-reason", "x-kvasir-instance");
    // Its class says that little is left to compute; nothing of it was cached.
    assertThat(answer.headers().firstValue("x-kvasir-prompt").orElse(""))
        .matches("short: [1-9][0-9]* tokens");
    scene.assertBooksAreEmpty();
    var metrics =
        scene
            .send(HttpRequest.newBuilder(URI.create(scene.gateway.adminUrl() + "/metrics")))
            .body();
    assertThat(metrics)
        .contains("kvasir_decisions_total{route_class=\"WARM\",reason=\"below_threshold\"} 1\n")
        .contains("kvasir_requests_total{outcome=\"complete\",status=\"200\"} 1\n")
        .contains("kvasir_output_tokens_total 8\n")
        .contains("kvasir_worker_ready{worker=\"one\"} 1\n");
    scene.gateway.close();
    var decision = Json.read(Files.readAllBytes(log));
    assertThat(decision.path("route_class").asString()).isEqualTo("WARM");
    assertThat(decision.path("t_first_token").asLong())
        .isBetween(decision.path("t_proxy_recv").asLong(), decision.path("t_done").asLong());
    var line = Json.read(Files.readAllBytes(capture));
    assertThat(line.path("schema").asString()).isEqualTo("kvasir.capture.v1");
    assertThat(line.path("output_tokens").asInt()).isEqualTo(8);
    assertThat(line.path("model").asString())
        .isNotEmpty()
        .isEqualTo(decision.path("model").asString());
    assertThat(line.path("blocks").size()).isEqualTo(line.path("prompt_tokens").asInt() / 16);
    assertThat(Files.readString(log) + Files.readString(capture)).doesNotContain("secret");
  }
}
