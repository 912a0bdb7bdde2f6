package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.request.PromptTokenizer;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.Json;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.router.limit.KeyLimits;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that are wrong, or want too much, before a worker sees them. */
@Timeout(180)
class BadRequestTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final String PROMPT = "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]";

  private final Scene scene = new Scene();

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void aFieldOfTheWrongKindIsAnsweredHoweverPromptsAreNamed() {
    for (var naming : Routing.Naming.values()) {
      scene.reopen(s -> s.with(s.routing().with(naming)));
      for (var field :
          List.of(
              "\"model\":\"\\ud800\"",
              "\"model\":\"\\udc00\\ud800\"",
              "\"model\":7",
              "\"cache_salt\":[]",
              "\"cache_salt\":\"\\ud800x\"",
              "\"stream\":\"yes\"")) {
        var answer = post("{" + PROMPT + "," + field + "}", StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(naming + " " + field).isEqualTo(400);
      }
    }
    assertThat(scene.seen()).isEmpty();
  }

  @Test
  void aBodyThatIsNotUtf8IsRefused() {
    for (var naming : Routing.Naming.values()) {
      scene.reopen(s -> s.with(s.routing().with(naming)));
      for (var charset : List.of("UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE")) {
        var answer = post("{\"model\":\"tiny\"," + PROMPT + "}", Charset.forName(charset));
        assertThat(answer.statusCode()).as(charset).isEqualTo(400);
        assertThat(answer.body()).as(charset).contains("UTF-8");
      }
    }
  }

  @Test
  void aModelNameIsShort() {
    var name = "m".repeat(100_000);
    var answer = scene.post(Scene.CHAT, "{\"model\":\"" + name + "\"," + PROMPT + "}");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).hasSizeLessThan(1_000).contains("256");
    var unknown = "m".repeat(256);
    var none = scene.post(Scene.CHAT, "{\"model\":\"" + unknown + "\"," + PROMPT + "}");
    assertThat(none.statusCode()).isEqualTo(404);
  }

  @Test
  void whateverTheTokenizerThrowsTheRequestIsAnswered() {
    for (var thrown :
        List.of(new IllegalStateException("a bug on purpose"), new StackOverflowError())) {
      tokenizer(
          (_, _, _) -> {
            if (thrown instanceof RuntimeException bug) throw bug;
            throw (Error) thrown;
          });
      assertThat(post("{" + PROMPT + "}", StandardCharsets.UTF_8).statusCode()).isEqualTo(200);
    }
    tokenizer((_, _, _) -> Future.succeededFuture());
    assertThat(post("{" + PROMPT + "}", StandardCharsets.UTF_8).statusCode()).isEqualTo(500);
    tokenizer((_, _, _) -> Future.failedFuture("no tokens today"));
    assertThat(post("{" + PROMPT + "}", StandardCharsets.UTF_8).statusCode()).isEqualTo(200);
  }

  @Test
  void requestsAreCountedBeforeTheirPromptsAreTurnedIntoTokens() throws Exception {
    var requested = new AtomicInteger();
    var tokens = Promise.<int[]>promise();
    PromptTokenizer slow =
        (_, _, _) -> {
          requested.incrementAndGet();
          return tokens.future();
        };
    var limited = ApiKey.of("ada", "a").with(new KeyLimits(100, 100_000, 2));
    tokenizer(slow, new ApiKeys(List.of(limited)));
    var waiting = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i < 2; i++) waiting.add(send("a"));
    Eventually.ends(() -> requested.get() < 2);
    assertThat(send("a").get().statusCode()).isEqualTo(429);
    assertThat(requested).hasValue(2);
    scene.network.vertx().runOnContext(_ -> tokens.complete(new int[] {1, 2, 3}));
    for (var each : waiting) assertThat(each.get().statusCode()).isEqualTo(200);
    scene.assertBooksAreEmpty();
    Eventually.ends(() -> send("a").join().statusCode() != 200);
  }

  @Test
  void aLongSessionNameIsNotKept() throws Exception {
    var name = "session".repeat(100);
    var session = new ArrayList<String>();
    for (int i = 0; i < 2; i++) {
      var more = "\"prompt_cache_key\":\"" + name + "\"," + PROMPT;
      var answer = scene.chat(Plan.GOOD, more);
      session.add(answer.headers().firstValue("x-kvasir-instance").orElseThrow());
    }
    assertThat(scene.gateway.onLoop(() -> scene.gateway.router().sessions())).isEqualTo(1);
    assertThat(session.getFirst()).isEqualTo(session.getLast());
    var kept =
        scene.gateway.onLoop(
            () ->
                scene.gateway.recent().decisions().stream()
                    .mapToInt(decision -> decision.request().session().length())
                    .max());
    assertThat(kept.orElseThrow()).isBetween(1, 100);
  }

  @Test
  void ofAPromptOnlyItsLengthIsKeptOnceItIsAnswered() throws Exception {
    var prompt = "\"messages\":[\"" + "many words ".repeat(1_000) + "\"]";
    assertThat(scene.chat(Plan.GOOD, prompt).statusCode()).isEqualTo(200);
    scene.assertBooksAreEmpty();
    var names =
        scene.gateway.onLoop(() -> scene.gateway.recent().decisions().getFirst().request().names());
    assertThat(names.tokens()).isGreaterThan(2_000);
    assertThat(names.blocks()).isEmpty();
  }

  private void tokenizer(PromptTokenizer tokenizer) {
    tokenizer(tokenizer, ApiKeys.NONE);
  }

  private void tokenizer(PromptTokenizer tokenizer, ApiKeys keys) {
    var extensions =
        new Gateway.Extensions(
            "", () -> TieredCacheState.NONE, List.of(), _ -> tokenizer, List.of());
    scene.reopen(
        extensions,
        s -> s.at(s.api().with(keys), s.admin()).with(s.routing().with(Routing.Naming.TOKENS)));
  }

  private CompletableFuture<HttpResponse<String>> send(String key) {
    var request =
        scene
            .request(Scene.CHAT)
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + key)
            .timeout(PATIENCE)
            .POST(BodyPublishers.ofString("{" + PROMPT + "}"));
    return scene.client.sendAsync(request.build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String body, Charset charset) {
    var request =
        scene
            .request(Scene.CHAT)
            .header("content-type", "application/json")
            .timeout(PATIENCE)
            .POST(BodyPublishers.ofByteArray(body.getBytes(charset)));
    return scene.send(request);
  }

  static String code(HttpResponse<String> answer) {
    return Json.read(Scene.bytes(answer)).path("error").path("code").asString();
  }
}
