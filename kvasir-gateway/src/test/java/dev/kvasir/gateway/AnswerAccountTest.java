package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.net.Json;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.router.limit.KeyLimits;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is recorded about answers, learned from them, and charged to keys for them. */
@Timeout(180)
class AnswerAccountTest {
  private static final String STREAM = "{\"model\":\"tiny\",\"stream\":true}";
  private static final String EVENT = "data: {\"n\":1}\n\n";
  private static final String USAGE =
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n";
  private static final String DONE = "data: [DONE]\n\n";
  private static final String CHUNK_END = "0\r\n\r\n";
  private static final int TOKENS_A_MINUTE = 1_000;

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

  /** Tokens are limited for the key "k". */
  private void reopenLimited() {
    var key = ApiKey.of("ada", "k").with(new KeyLimits(1_000, TOKENS_A_MINUTE, 100));
    reopen(s -> s.at(s.api().with(new ApiKeys(List.of(key))), s.admin()));
  }

  /** Returns whether the key has used up the tokens of its minute. */
  private boolean isUsedUp() throws Exception {
    scene.assertBooksAreEmpty();
    scene.completing(call -> call.json(200, "{}"));
    var small = "{\"prompt\":\"" + "x".repeat(4 * TOKENS_A_MINUTE / 2) + "\"}";
    return scene.postAs("k", RawScene.COMPLETIONS, small).statusCode() == 429;
  }

  @Test
  void aCallerWhoLeavesAfterTheLastEventHasACompleteAnswer() throws Exception {
    var log = folder.resolve("log");
    var capture = folder.resolve("capture");
    reopen(s -> s.with(new JournalFiles(log, capture, null)));
    scene.completing(
        call -> {
          call.streamHead();
          call.send(EVENT + EVENT + USAGE + DONE);
          call.hang();
        });
    try (Socket socket = scene.raw("", RawScene.CHAT, STREAM)) {
      RawScene.readUntil(socket, DONE);
    }
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics())
        .contains("kvasir_requests_total{outcome=\"complete\",status=\"200\"} 1\n");
    scene.gateway.close();
    assertThat(Json.read(Files.readAllBytes(log)).path("output_tokens").asInt()).isEqualTo(2);
    var line = Json.read(Files.readAllBytes(capture));
    assertThat(line.path("output_tokens").asInt()).isEqualTo(2);
    assertThat(line.path("told_prompt_tokens").asInt()).isEqualTo(9);
    scene = new RawScene();
  }

  @Test
  void aCallerWhoLeavesBeforeTheLastEventIsGone() throws Exception {
    scene.completing(
        call -> {
          call.streamHead();
          call.send(EVENT + EVENT);
          call.hang();
        });
    try (Socket socket = scene.raw("", RawScene.CHAT, STREAM)) {
      RawScene.readUntil(socket, EVENT);
    }
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics())
        .contains("kvasir_requests_total{outcome=\"gone\",status=\"200\"} 1");
  }

  @Test
  void aStreamWithAnErrorIsNotComplete() throws Exception {
    var error = "data: {\"error\": {\"message\": \"engine died\", \"code\": 500}}\n\n";
    var bodies =
        List.of(
            EVENT + error + DONE,
            EVENT + error,
            error + DONE,
            EVENT + "event: error\n" + error + DONE);
    for (var body : bodies) {
      scene.completing(
          call -> {
            call.streamHead();
            call.send(body);
            call.close();
          });
      assertThat(scene.post(RawScene.CHAT, STREAM).body()).isEqualTo(body);
    }
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics())
        .contains("kvasir_requests_total{outcome=\"broken\",status=\"200\"} " + bodies.size())
        .doesNotContain("outcome=\"complete\"");
  }

  @Test
  void anErrorInAStreamSpeaksAgainstTheWorkerUnlessItIsTheCallers() throws Exception {
    reopen(
        s ->
            s.with(
                Records.with(s.failures(), "failuresMax", 3, "restTime", Duration.ofMinutes(5))));
    int first = scene.gateway.onLoop(() -> scene.gateway.router().instances().getFirst());
    scene.gateway.drain("two");
    scene.first.completing(
        call -> {
          call.streamHead();
          call.send(EVENT + "data: {\"error\":{\"message\":\"no\",\"code\":400}}\n\n" + DONE);
          call.close();
        });
    for (int i = 0; i < 5; i++) scene.post(RawScene.CHAT, STREAM);
    scene.assertBooksAreEmpty();
    assertThat(failures(first)).isZero();
    scene.first.completing(
        call -> {
          call.streamHead();
          call.send(EVENT + "data: {\"error\":{\"message\":\"dead\",\"code\":500}}\n\n" + DONE);
          call.close();
        });
    for (int i = 0; i < 2; i++) scene.post(RawScene.CHAT, STREAM);
    scene.assertBooksAreEmpty();
    assertThat(failures(first)).isEqualTo(2);
  }

  /** One that begins every answer and ends none is not well. */
  @Test
  void aWorkerThatBreaksOffAllItBeginsFailsEachTime() throws Exception {
    reopen(
        s ->
            s.with(
                Records.with(s.failures(), "failuresMax", 9, "restTime", Duration.ofMinutes(5))));
    int first = scene.gateway.onLoop(() -> scene.gateway.router().instances().getFirst());
    scene.gateway.drain("two");
    scene.first.completing(
        call -> {
          call.streamHead();
          call.send(EVENT + EVENT);
          call.close();
        });
    for (int i = 0; i < 3; i++) scene.post(RawScene.CHAT, STREAM);
    scene.assertBooksAreEmpty();
    assertThat(failures(first)).isEqualTo(3);
  }

  private int failures(int id) {
    return scene.gateway.onLoop(() -> scene.gateway.workers().entry(id).failures());
  }

  @Test
  void anAbortedStreamTakesTheTokensThatCame() throws Exception {
    reopenLimited();
    scene.completing(
        call -> {
          call.streamHead();
          call.send(EVENT.repeat(TOKENS_A_MINUTE) + "data: {\"last\":1}\n\n");
          call.hang();
        });
    try (Socket socket = scene.raw("k", RawScene.CHAT, STREAM)) {
      RawScene.readUntil(socket, "last");
    }
    assertThat(isUsedUp()).isTrue();
  }

  @Test
  void aWholeAnswerTooLargeToHoldTakesItsTokens() throws Exception {
    for (int before : new int[] {0, 100, 3 << 20}) {
      reopenLimited();
      var pad = "\"pad\":\"" + "\\\"usage\\\":{}".repeat(1 + before / 12) + "\",";
      var more = ",\"more\":\"" + "x".repeat((3 << 20) - before) + "\"";
      var usage = "\"usage\": {\"completion_tokens\":5000,\"prompt_tokens_details\":{}}";
      scene.completing(call -> call.json(200, "{" + pad + usage + more + "}"));
      assertThat(scene.postAs("k", RawScene.CHAT, "{}").statusCode()).isEqualTo(200);
      scene.assertBooksAreEmpty();
      assertThat(scene.metrics()).contains("kvasir_output_tokens_total 5000\n");
      assertThat(isUsedUp()).as("usage after %d bytes", before).isTrue();
    }
  }

  @Test
  void aWholeAnswerTooLargeToHoldThatBreaksOffTakesAboutItsTokens() throws Exception {
    reopenLimited();
    scene.completing(
        call -> {
          call.send(RawWorker.head(200, "application/json", "content-length: 90000000"));
          call.send("{\"text\":\"" + "x".repeat(2 << 20));
          call.hang();
        });
    try (Socket socket = scene.raw("k", RawScene.CHAT, "{}")) {
      RawScene.readUntil(socket, "xxx");
    }
    assertThat(isUsedUp()).isTrue();
  }

  @Test
  void theFieldThatIsReadAtThePathIsTheOneThatIsCounted() throws Exception {
    var length = "x".repeat(8 * TOKENS_A_MINUTE);
    var requests =
        List.of(
            List.of(RawScene.COMPLETIONS, "{\"messages\":[],\"prompt\":\"" + length + "\"}"),
            List.of(RawScene.CHAT, "{\"prompt\":\"\",\"messages\":[\"" + length + "\"]}"),
            List.of("/v1/embeddings", "{\"messages\":[],\"input\":\"" + length + "\"}"),
            List.of("/v1/embeddings", "{\"input\":\"\",\"messages\":[\"" + length + "\"]}"));
    for (var request : requests) {
      reopenLimited();
      scene.completing(call -> call.json(200, "{}"));
      assertThat(scene.postAs("k", request.get(0), request.get(1)).statusCode()).isEqualTo(200);
      assertThat(isUsedUp()).as(request.get(0)).isTrue();
    }
  }

  @Test
  void allAnswersOfOneRequestTakeTheirTokens() throws Exception {
    for (var many : List.of("\"n\":4", "\"best_of\":4")) {
      reopenLimited();
      // What a worker tells is the sum of all that it made.
      scene.completing(call -> call.json(200, "{\"usage\":{\"completion_tokens\":1200}}"));
      scene.postAs("k", RawScene.COMPLETIONS, "{" + many + ",\"max_tokens\":300}");
      assertThat(isUsedUp()).as(many).isTrue();
    }
  }

  @Test
  void allAnswersOfAnAbortedStreamTakeTheirTokens() throws Exception {
    reopenLimited();
    var step = new StringBuilder();
    for (int i = 0; i < 4; i++) step.append("data: {\"choices\":[{\"index\":" + i + "}]}\n\n");
    scene.completing(
        call -> {
          call.streamHead();
          call.send(step.toString().repeat(TOKENS_A_MINUTE / 4) + "data: {\"last\":1}\n\n");
          call.hang();
        });
    try (Socket socket = scene.raw("k", RawScene.CHAT, "{\"stream\":true,\"n\":4}")) {
      RawScene.readUntil(socket, "last");
    }
    assertThat(isUsedUp()).isTrue();
  }

  @Test
  void aWholeAnswerDecodesOnTheBooksBeforeItCame() throws Exception {
    var answer = new CountDownLatch(1);
    scene.completing(
        call -> {
          await(answer);
          call.json(200, "{\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":50}}");
        });
    var prompt = "\"prompt\":\"" + "x".repeat(800) + "\"";
    var sent = scene.begin(RawScene.COMPLETIONS, "{" + prompt + "}");
    Eventually.ends(() -> decodeStreams() == 0);
    assertThat(sent.isDone()).isFalse();
    answer.countDown();
    assertThat(sent.join().statusCode()).isEqualTo(200);
  }

  private int decodeStreams() {
    return scene.gateway.onLoop(
        () -> {
          int count = 0;
          for (int id : scene.gateway.router().instances()) {
            var load = scene.gateway.router().load(id);
            if (load.prefillTokens() == 0) count += load.decodeStreams();
          }
          return count;
        });
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aWholeAnswerTellsNoTimeToItsFirstTokenAndTeachesNoSpeed() throws Exception {
    var log = folder.resolve("log");
    reopen(s -> s.with(new JournalFiles(log, null, null)));
    double speed = speed();
    var usage = "{\"usage\":{\"prompt_tokens\":2000,\"completion_tokens\":50}}";
    scene.completing(call -> call.json(200, usage));
    for (int i = 0; i < 20; i++) scene.post(RawScene.COMPLETIONS, prompt(i, ""));
    scene.assertBooksAreEmpty();
    assertThat(speed()).isEqualTo(speed);
    assertThat(scene.metrics()).contains("kvasir_time_to_first_token_seconds_count 0\n");
    scene.gateway.close();
    for (var line : Files.readAllLines(log)) {
      var decision = Json.read(line.getBytes(StandardCharsets.UTF_8));
      assertThat(decision.path("t_first_token").isNull()).isTrue();
    }
    scene = new RawScene();
  }

  /** Of one token the end is the first: it is known after all. */
  @Test
  void aWholeAnswerOfOneTokenTellsTheTimeToIt() throws Exception {
    var usage = "{\"usage\":{\"prompt_tokens\":2000,\"completion_tokens\":1}}";
    scene.completing(call -> call.json(200, usage));
    scene.post(RawScene.COMPLETIONS, prompt(1, ""));
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics()).contains("kvasir_time_to_first_token_seconds_count 1\n");
  }

  @Test
  void aStreamTellsTheTimeToItsFirstToken() throws Exception {
    scene.completing(
        call -> {
          call.streamHead();
          call.send(": comment\n\n" + EVENT + USAGE + DONE + CHUNK_END);
          call.close();
        });
    scene.post(RawScene.COMPLETIONS, prompt(1, ",\"stream\":true"));
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics()).contains("kvasir_time_to_first_token_seconds_count 1\n");
  }

  private static String prompt(int number, String more) {
    return "{\"prompt\":\"" + number + "x".repeat(8_000) + "\"" + more + "}";
  }

  private double speed() {
    return scene.gateway.onLoop(() -> scene.gateway.router().estimates().workPerSecond());
  }
}
