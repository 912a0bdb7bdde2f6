package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.Json;
import dev.kvasir.net.server.Eventually;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers of workers that are not as they should be. */
@Timeout(180)
class WorkerAnswerTest {
  private static final String STREAM = "{\"model\":\"tiny\",\"stream\":true}";
  private static final String WHOLE = "{\"model\":\"tiny\"}";
  private static final String EVENT = "data: {\"n\":1}\n\n";
  private static final String DONE = "data: [DONE]\n\n";

  /** The kernel takes up to 40 MiB between the two; what the gateway holds comes on top. */
  private static final int BOUND = 64 << 20;

  private static final int HEAP_BOUND = 4 << 20;

  private RawScene scene = new RawScene();

  @AfterEach
  void stop() throws Exception {
    scene.assertBooksAreEmpty();
    scene.close();
  }

  private void reopen(UnaryOperator<GatewaySettings> change) {
    scene.close();
    scene = new RawScene(UnaryOperator.identity(), change);
  }

  private static GatewaySettings within(GatewaySettings s, Duration first, Duration silence) {
    return s.with(Records.with(s.failures(), "firstTime", first, "silenceTime", silence));
  }

  @Test
  void aStatusThatIsNoAnswerIsToldAsABadGateway() {
    for (int status : List.of(101, 102, 199, 301, 307, 399, 600, 999)) {
      scene.completing(
          call -> {
            call.send(RawWorker.head(status, "text/html", "location: /", "content-length: 0"));
            call.close();
          });
      var answer = scene.post(RawScene.CHAT, WHOLE);
      assertThat(answer.statusCode()).as("%d", status).isEqualTo(502);
      assertThat(answer.headers().firstValue("location")).isEmpty();
      assertThat(error(answer)).as("%d", status).isNotEmpty();
    }
  }

  @Test
  void aStatusThatIsNoAnswerIsTriedElsewhere() {
    var count = new AtomicInteger();
    scene.completing(
        call -> {
          if (count.getAndIncrement() == 0) call.json(307, "{}");
          else call.json(200, "{\"ok\":1}");
        });
    var answer = scene.post(RawScene.CHAT, WHOLE);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("x-kvasir-attempts")).contains("2");
  }

  private static final List<String> NOT_FOR_CALLERS =
      List.of(
          "clear-site-data: \"*\"",
          "alt-svc: h2=\"evil:443\"",
          "location: http://evil/",
          "www-authenticate: Basic",
          "proxy-authenticate: Basic",
          "set-cookie: a=b",
          "access-control-allow-origin: *",
          "strict-transport-security: max-age=1",
          "refresh: 0",
          "link: </x>; rel=preload",
          "server: evil",
          "x-kvasir-instance: another",
          "x-kvasir-last-turn: true",
          "x-whatever: 1",
          "keep-alive: timeout=9");

  private static String[] names() {
    return NOT_FOR_CALLERS.stream()
        .map(line -> line.substring(0, line.indexOf(':')))
        .filter(name -> !name.equals("x-kvasir-instance"))
        .toArray(String[]::new);
  }

  @Test
  void ofTheHeadersOfAWorkerOnlyThoseOfItsAnswerReachTheCaller() {
    for (int status : List.of(200, 400, 401, 503)) {
      for (var body : List.of(WHOLE, STREAM)) {
        scene.completing(
            call -> {
              var evil = String.join("\r\n", NOT_FOR_CALLERS);
              var good = "openai-version: 1\r\nx-ratelimit-remaining: 2\r\ncache-control: no-store";
              var type = call.body().contains("stream") ? "text/event-stream" : "application/json";
              call.send(RawWorker.head(status, type, evil, good, "x-request-id: evil"));
              call.send(type.startsWith("text") ? EVENT + DONE : "{}");
              call.close();
            });
        var answer = scene.post(RawScene.CHAT, body);
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().map()).as("%d", status).doesNotContainKeys(names());
        assertThat(answer.headers().allValues("x-kvasir-instance")).doesNotContain("another");
        assertThat(answer.headers().allValues("x-request-id")).hasSize(1).doesNotContain("evil");
        if (status != 200) continue;
        assertThat(answer.headers().map())
            .containsEntry("openai-version", List.of("1"))
            .containsEntry("x-ratelimit-remaining", List.of("2"))
            .containsEntry("cache-control", List.of("no-store"));
      }
    }
  }

  @Test
  void aWorkerThatWantsToBeLeftAloneIsBelievedForAnHourAtMost() {
    var delays =
        new String[] {"7", "86400", "Wed, 21 Oct 2099 07:28:00 GMT", "-1", "9999999999", ""};
    var passed = new String[] {"7", "3600", "1", "1", "1", "1"};
    for (int i = 0; i < delays.length; i++) {
      var retryAfter = "retry-after: " + delays[i];
      scene.completing(
          call -> {
            call.send(RawWorker.head(503, "application/json", retryAfter, "content-length: 2"));
            call.send("{}");
          });
      assertThat(scene.post(RawScene.CHAT, WHOLE).headers().allValues("retry-after"))
          .as(delays[i])
          .containsExactly(passed[i]);
    }
  }

  /** The time for a first byte of a prefill is no time for bytes that begin no answer. */
  @Test
  void whatIsNoAnswerIsNotWaitedFor() {
    reopen(s -> within(s, Duration.ofMinutes(10), Duration.ofMinutes(1)));
    for (var noAnswer :
        List.of("garbage without an end of line", "HTTP/1.1 103 X\r\n\r\n".repeat(50))) {
      scene.completing(
          call -> {
            call.send(noAnswer);
            call.hang();
          });
      assertThat(scene.post(RawScene.CHAT, WHOLE).statusCode()).isEqualTo(502);
    }
  }

  @Test
  void aRefusalWhoseBodyNeverComesIsTriedElsewhere() {
    for (int status : List.of(503, 429, 502)) {
      var count = new AtomicInteger();
      scene.completing(
          call -> {
            if (count.getAndIncrement() > 0) {
              call.json(200, "{\"ok\":1}");
              return;
            }
            call.send(RawWorker.head(status, "application/json", "content-length: 20") + "{");
            call.hang();
          });
      var answer = scene.post(RawScene.CHAT, WHOLE);
      assertThat(answer.statusCode()).as("%d", status).isEqualTo(200);
    }
  }

  @Test
  void aRefusalWhoseBodyNeverComesIsStillToldWhenNobodyElseAnswers() {
    scene.completing(
        call -> {
          call.send(RawWorker.head(503, "application/json", "retry-after: 7") + "{");
          call.hang();
        });
    var answer = scene.post(RawScene.CHAT, WHOLE);
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(error(answer)).isNotEmpty();
  }

  @Test
  void aWholeAnswerThatComesInDropsIsGivenUp() {
    reopen(s -> within(s, Duration.ofMillis(400), Duration.ofMillis(200)));
    scene.completing(
        call -> {
          call.send(RawWorker.head(200, "application/json", "content-length: 1000000"));
          drops(call, " ");
        });
    assertThat(scene.post(RawScene.CHAT, WHOLE).statusCode()).isEqualTo(502);
  }

  @Test
  void aStreamOfCommentsAloneIsGivenUp() {
    reopen(s -> within(s, Duration.ofMillis(400), Duration.ofMillis(200)));
    scene.completing(
        call -> {
          call.streamHead();
          drops(call, ": wait\n\n");
        });
    assertThat(scene.post(RawScene.CHAT, STREAM).statusCode()).isEqualTo(502);
  }

  /** The head of a stream comes before its prefill, which may take long. */
  @Test
  void aStreamMaySayNothingForAsLongAsAFirstByteMayTake() {
    reopen(s -> within(s, Duration.ofSeconds(20), Duration.ofMillis(50)));
    scene.completing(
        call -> {
          call.streamHead();
          pause(Duration.ofMillis(400));
          call.send(EVENT + DONE);
          call.close();
        });
    var answer = scene.post(RawScene.CHAT, STREAM);
    assertThat(answer.body()).isEqualTo(EVENT + DONE);
    assertThat(answer.headers().firstValue("x-kvasir-attempts")).contains("1");
  }

  /** Waits as a worker does; nothing is asserted of how long. */
  private static void pause(Duration time) throws IOException {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static void drops(RawWorker.Call call, String drop) throws IOException {
    while (true) {
      call.send(drop);
      pause(Duration.ofMillis(20));
    }
  }

  @Test
  void whatComesBeforeTheFirstEventIsHeldWithinABound() throws Exception {
    for (var endless :
        List.of("data: " + "x".repeat(60_000), ":\n\n".repeat(20_000), "\n".repeat(60_000))) {
      scene.completing(
          call -> {
            call.streamHead();
            call.endless(endless);
          });
      assertWorkerIsSlowedDown(STREAM);
    }
  }

  @Test
  void aWholeAnswerWithoutEndIsHeldWithinABound() throws Exception {
    scene.completing(
        call -> {
          call.send(RawWorker.head(200, "application/json", "connection: close"));
          call.endless(" ".repeat(60_000));
        });
    assertWorkerIsSlowedDown(WHOLE);
  }

  @Test
  void aCallerWhoReadsNothingOfAStreamSlowsItsWorkerDown() throws Exception {
    scene.completing(
        call -> {
          call.streamHead();
          call.endless(EVENT.repeat(4_000));
        });
    assertWorkerIsSlowedDown(STREAM);
  }

  /** The caller reads nothing: what the worker can send is bounded. */
  private void assertWorkerIsSlowedDown(String body) throws Exception {
    long before = sent();
    try (var _ = scene.raw("", RawScene.CHAT, body)) {
      Eventually.ends(() -> sent() < before + 8_000);
      long seen = -1;
      for (int unchanged = 0; unchanged < 5 && sent() < before + BOUND; unchanged++) {
        if (seen != sent()) unchanged = 0;
        seen = sent();
        Thread.sleep(200);
      }
      assertThat(sent()).isLessThan(before + BOUND);
    }
    scene.assertBooksAreEmpty();
  }

  private long sent() {
    return scene.first.sent() + scene.second.sent();
  }

  @Test
  void aCallerWhoReadsNothingIsLetGoAfterAWhile() throws Exception {
    var stall = Duration.ofMillis(200);
    reopen(
        s -> {
          var limits = s.api().limits();
          var times = Records.with(limits, "stallTime", stall);
          return s.at(s.api().with(times), s.admin());
        });
    var ended = new AtomicInteger();
    scene.completing(
        call -> {
          try {
            if (call.body().contains("true")) {
              call.streamHead();
              call.endless(EVENT.repeat(4_000));
            } else {
              call.json(200, "\"" + "x".repeat(32 << 20) + "\"");
            }
          } finally {
            ended.incrementAndGet();
          }
        });
    for (var body : List.of(STREAM, WHOLE)) {
      int before = ended.get();
      try (Socket socket = scene.raw("", RawScene.CHAT, body)) {
        Eventually.ends(() -> ended.get() == before);
        scene.assertBooksAreEmpty();
        assertThat(socket.isConnected()).isTrue();
      }
    }
  }

  @Test
  void manyCallersWhoReadNothingAreHeldWithinABoundEach() throws Exception {
    int callers = 16;
    scene.completing(
        call -> {
          call.streamHead();
          call.endless(EVENT.repeat(4_000));
        });
    long before = heap();
    var sockets = new Socket[callers];
    for (int i = 0; i < callers; i++) sockets[i] = scene.raw("", RawScene.CHAT, STREAM);
    Eventually.ends(() -> sent() < callers * (1L << 20));
    assertThat(heap() - before).isLessThan((long) callers * HEAP_BOUND);
    for (var socket : sockets) socket.close();
  }

  private static long heap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void whatConnectionNamesGoesNoFurther() {
    scene.completing(
        call ->
            call.send(
                RawWorker.head(
                        200,
                        "application/json",
                        "Connection: keep-alive, OpenAI-Foo",
                        "connection:openai-bar ,, OpenAI-Baz",
                        "openai-foo: 1",
                        "openai-bar: 2",
                        "openai-baz: 3",
                        "openai-other: 4",
                        "content-length: 2")
                    + "{}"));
    var headers = scene.post(RawScene.CHAT, WHOLE).headers();
    assertThat(headers.firstValue("openai-other")).contains("4");
    assertThat(headers.map()).doesNotContainKeys("openai-foo", "openai-bar", "openai-baz");
  }

  @Test
  void tokensThatNeverComeOrNeverEndDoNotKeepARequest() {
    reopen(s -> s.with(s.routing().with(Routing.Naming.TOKENS)));
    scene.completing(call -> call.json(200, "{\"ok\":1}"));
    var scripts =
        List.<RawWorker.Script>of(
            RawWorker.Call::hang,
            call -> {
              call.send(RawWorker.head(200, "application/json", "content-length: 100"));
              call.hang();
            },
            call -> {
              call.send(RawWorker.head(200, "application/json", "connection: close"));
              call.endless("[".repeat(4_096));
            },
            call -> {
              call.send(RawWorker.head(200, "application/json", "content-length: 90000"));
              drops(call, "[");
            },
            call -> call.json(200, "{\"tokens\":{\"a\":1}}"),
            call -> call.json(200, "{\"tokens\":[" + "1,".repeat(200_000) + "1]}"),
            call -> call.json(200, "{\"tokens\":[-1,\"a\",null,1e99]}"),
            call -> call.json(500, "{\"tokens\":[1]}"),
            call -> call.json(999, "{"));
    for (var script : scripts) {
      scene.first.on("/tokenize", script);
      scene.second.on("/tokenize", script);
      for (int i = 0; i < 2; i++) {
        assertThat(scene.post(RawScene.CHAT, "{\"messages\":[\"abcdefgh\"]}").statusCode())
            .isEqualTo(200);
      }
    }
  }

  private static String error(HttpResponse<String> answer) {
    var body = answer.body().getBytes(StandardCharsets.UTF_8);
    return Json.read(body).path("error").path("message").asString("");
  }
}
