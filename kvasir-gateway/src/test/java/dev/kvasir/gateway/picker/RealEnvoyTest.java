package dev.kvasir.gateway.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.Sha256;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.router.limit.KeyLimits;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The endpoint picker beside a real Envoy. Run by scripts/real-envoy, which installs it. */
@EnabledIfEnvironmentVariable(
    named = "KVASIR_ENVOY",
    matches = ".+",
    disabledReason = "needs a real Envoy: run scripts/real-envoy")
@Timeout(180)
class RealEnvoyTest {
  private static final String WORKER = "x-worker";

  @TempDir private Path folder;

  private static UnaryOperator<String> bodies(String mode) {
    if (mode.equals("FULL_DUPLEX_STREAMED")) return UnaryOperator.identity();
    return yaml ->
        yaml.replace("request_body_mode: FULL_DUPLEX_STREAMED", "request_body_mode: BUFFERED")
            .replace("response_body_mode: FULL_DUPLEX_STREAMED", "response_body_mode: STREAMED")
            .replace("trailer_mode: SEND", "trailer_mode: SKIP");
  }

  private static HttpRequest.Builder chat(EnvoyProcess envoy, String conversation, boolean stream) {
    var body =
        "{\"model\":\"tiny\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
            .formatted(stream, conversation.repeat(40));
    return HttpRequest.newBuilder(envoy.uri(PickerScene.CHAT))
        .header("content-type", "application/json")
        .header("x-prefiller-host-port", "evil:1")
        .POST(BodyPublishers.ofString(body));
  }

  private static String worker(HttpResponse<String> answer) {
    return answer.headers().firstValue(WORKER).orElse("nobody, status " + answer.statusCode());
  }

  @ParameterizedTest
  @ValueSource(strings = {"FULL_DUPLEX_STREAMED", "BUFFERED"})
  void conversationsStayWhereTheirPrefixIs(String mode) throws Exception {
    try (var scene = new PickerScene();
        var envoy = EnvoyProcess.start(scene, folder, bodies(mode))) {
      var homes = new ArrayList<String>();
      for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < 6; i++) {
          var answer = scene.send(chat(envoy, "conversation %d ".formatted(i), turn % 2 == 0));
          assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
          if (turn == 0) homes.add(worker(answer));
          else assertThat(worker(answer)).isEqualTo(homes.get(i));
          if (turn % 2 == 0) assertThat(answer.body()).endsWith("data: [DONE]\n\n");
        }
      }
      assertThat(homes).contains("one", "two");
      assertThat(scene.first.seen())
          .allMatch(s -> !s.headers().containsKey("x-prefiller-host-port"));
      scene.assertBooksAreEmpty();
      assertThat(scene.metric("kvasir_picker_streams_total{result=\"placed\"}")).isEqualTo(24);
      // The answers were seen: tokens by the workers' own account, and first tokens of streams.
      assertThat(scene.metrics()).contains("kvasir_time_to_first_token_seconds_count 12");
    }
  }

  @Test
  void requestsWithoutABodyGoToSomeWorker() throws Exception {
    try (var scene = new PickerScene();
        var envoy = EnvoyProcess.start(scene, folder, UnaryOperator.identity())) {
      var answer = scene.send(HttpRequest.newBuilder(envoy.uri("/v1/models")));
      assertThat(answer.body()).contains("tiny");
      scene.assertBooksAreEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"FULL_DUPLEX_STREAMED", "BUFFERED"})
  void aBodyOverTheLimitIsRefusedAndALargeOneArrivesWhole(String mode) throws Exception {
    try (var scene = new PickerScene();
        var envoy = EnvoyProcess.start(scene, folder, bodies(mode))) {
      var large = scene.send(chat(envoy, "x".repeat(PickerScene.BODY_BYTES_MAX / 41), false));
      assertThat(large.statusCode()).as(large.body()).isEqualTo(200);
      var seen = scene.first.seen().isEmpty() ? scene.second.seen() : scene.first.seen();
      assertThat(seen.element().body().length()).isGreaterThan(190_000);
      var over = scene.send(chat(envoy, "x".repeat(PickerScene.BODY_BYTES_MAX / 39), false));
      assertThat(over.statusCode()).isEqualTo(413);
      assertThat(over.body()).contains("body_too_large");
      // One that does not tell how long it is.
      var pieces = BodyPublishers.ofByteArray(new byte[2 * PickerScene.BODY_BYTES_MAX]);
      var unreported =
          scene.send(
              HttpRequest.newBuilder(envoy.uri(PickerScene.CHAT))
                  .POST(BodyPublishers.fromPublisher(pieces)));
      assertThat(unreported.statusCode()).isEqualTo(413);
      scene.assertBooksAreEmpty();
    }
  }

  @Test
  void limitsOfKeysAndMistakesAreAnsweredByEnvoyInOurWords() throws Exception {
    try (var scene = new PickerScene();
        var envoy = EnvoyProcess.start(scene, folder, UnaryOperator.identity())) {
      var key =
          new ApiKey(
              "alice",
              Sha256.hex("secret".getBytes(StandardCharsets.UTF_8)),
              ApiKey.Scope.USER,
              new KeyLimits(2, 1 << 30, 9));
      scene.gateway.use(new ApiKeys(List.of(key)));
      assertThat(scene.send(chat(envoy, "a", false)).statusCode()).isEqualTo(401);
      var bearer = "Bearer secret";
      var good = scene.send(chat(envoy, "a", false).header("authorization", bearer));
      assertThat(good.statusCode()).isEqualTo(200);
      var seen = scene.first.seen().isEmpty() ? scene.second.seen() : scene.first.seen();
      assertThat(seen.element().headers()).doesNotContainKey("authorization");
      assertThat(seen.element().body().toString()).contains("cache_salt");
      var bad =
          scene.send(
              HttpRequest.newBuilder(envoy.uri(PickerScene.CHAT))
                  .header("authorization", bearer)
                  .POST(BodyPublishers.ofString("{\"messages\":")));
      assertThat(bad.statusCode()).isEqualTo(400);
      var many = scene.send(chat(envoy, "a", false).header("authorization", bearer));
      assertThat(many.statusCode()).isEqualTo(429);
      assertThat(many.headers().firstValue("retry-after")).isPresent();
      assertThat(many.body()).contains("rate_limited");
      scene.assertBooksAreEmpty();
    }
  }

  @Test
  void withoutWorkersItIs503() throws Exception {
    try (var scene = new PickerScene();
        var envoy = EnvoyProcess.start(scene, folder, UnaryOperator.identity())) {
      scene.gateway.drain("one");
      scene.gateway.drain("two");
      var answer = scene.send(chat(envoy, "a", false));
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("no_worker");
      scene.assertBooksAreEmpty();
    }
  }

  @Test
  void withoutAPickerEnvoyDoesAsItsFailureModeSays() throws Exception {
    try (var scene = new PickerScene();
        var closed = EnvoyProcess.start(scene, folder, UnaryOperator.identity());
        var open =
            EnvoyProcess.start(
                scene,
                folder,
                // A body that has been streamed to a picker cannot be sent elsewhere any more.
                yaml ->
                    bodies("BUFFERED")
                        .apply(yaml)
                        .replace("failure_mode_allow: false", "failure_mode_allow: true"))) {
      int port = scene.picker.port();
      assertThat(scene.send(chat(closed, "a", true)).statusCode()).isEqualTo(200);
      assertThat(scene.send(chat(open, "a", true)).statusCode()).isEqualTo(200);
      scene.picker.close();
      assertThat(scene.send(chat(closed, "a", true)).statusCode()).isBetween(500, 504);
      var anybody = scene.send(chat(open, "a", true));
      assertThat(worker(anybody)).isIn("one", "two");
      scene.picker = scene.start(port);
      Eventually.ends(() -> scene.send(chat(closed, "a", true)).statusCode() != 200);
      scene.assertBooksAreEmpty();
    }
  }

  /** At a pace that leaves the machine at rest in between; rounds in turn. */
  @Test
  void thePickerAddsLittle() throws Exception {
    int requests = Integer.getInteger("kvasir.envoy.requests", 100);
    try (var scene = new PickerScene();
        var with = EnvoyProcess.start(scene, folder, UnaryOperator.identity());
        var alone =
            EnvoyProcess.start(
                scene,
                folder,
                yaml ->
                    yaml.replaceAll(
                        "(?s)                  - name: envoy.filters.http.ext_proc.*?"
                            + "(?=                  - name: envoy.filters.http.router)",
                        ""))) {
      var added = new double[5];
      // As a picker that has been running for a while: its code is compiled.
      for (int i = Integer.getInteger("kvasir.envoy.warm-up", 2_000); i > 0; i--) {
        var answer = scene.send(chat(i % 4 == 0 ? alone : with, "warm-up %d ".formatted(i), true));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      }
      paced(scene, with, requests);
      paced(scene, alone, requests);
      for (int round = 0; round < added.length; round++) {
        double picked = paced(scene, with, requests);
        double plain = paced(scene, alone, requests);
        added[round] = picked - plain;
        System.out.printf(
            Locale.ROOT, "p50 with a picker %.2f ms, without %.2f ms%n", picked, plain);
      }
      Arrays.sort(added);
      System.out.printf(Locale.ROOT, "added p50, median of 5: %.2f ms%n", added[2]);
      scene.assertBooksAreEmpty();
    }
  }

  /** 50 a second; the median of milliseconds to the end of the answer. */
  private static double paced(PickerScene scene, EnvoyProcess envoy, int requests)
      throws InterruptedException {
    var millis = new double[requests];
    long start = System.nanoTime();
    for (int i = 0; i < requests; i++) {
      long wait = start + i * 20_000_000L - System.nanoTime();
      if (wait > 0) Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
      long begun = System.nanoTime();
      var answer = scene.send(chat(envoy, "conversation %d ".formatted(i % 10), true));
      millis[i] = (System.nanoTime() - begun) / 1e6;
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }
    Arrays.sort(millis);
    return millis[requests / 2];
  }
}
