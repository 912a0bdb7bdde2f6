package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.Plan.Break;
import dev.kvasir.gateway.Plan.Fault;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.router.flow.QueueLimits;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class GatewayFailureTest {
  private final Scene scene = new Scene();

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void whatFailsBeforeTheFirstByteIsTriedElsewhere() throws Exception {
    var faults = List.of(Fault.BEFORE_HEAD, Fault.AFTER_HEAD, Fault.BUSY, Fault.IN_CHARACTER);
    for (var fault : faults) {
      var plan = Plan.failing(fault, Break.FIN, 1, 0);
      var answer = scene.stream(plan);
      assertThat(answer.statusCode()).as(fault.name()).isEqualTo(200);
      assertThat(answer.body()).endsWith("data: [DONE]\n\n");
      assertThat(answer.headers().firstValue("x-kvasir-attempts")).contains("2");
    }
  }

  @Test
  void whatFailsLaterEndsWithAnErrorAndIsNotTriedAgain() throws Exception {
    for (var fault : List.of(Fault.AFTER_EVENTS, Fault.IN_CHARACTER, Fault.UNDELIMITED)) {
      var plan = Plan.failing(fault, Break.FIN, 1, 3);
      var answer = scene.stream(plan);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body())
          .as(fault.name())
          .contains("{\"n\":2,")
          .doesNotContain("{\"n\":3,", "[DONE]")
          .contains("\n\ndata: {\"error\":{");
      assertThat(scene.attempts.get(plan.seed())).isEqualTo(1);
    }
  }

  @Test
  void whenNobodyAnswersTheLastRefusalIsHandedOn() throws Exception {
    var answer = scene.stream(Plan.failing(Fault.BUSY, Break.FIN, 9, 0));
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("busy");
    assertThat(answer.headers().firstValue("retry-after")).contains("1");
    var dead = scene.stream(Plan.failing(Fault.BEFORE_HEAD, Break.RST, 9, 0));
    assertThat(dead.statusCode()).isEqualTo(502);
  }

  @Test
  void anErrorOfTheModelIsHandedOnAsItIs() throws Exception {
    var plan = Plan.failing(Fault.ERROR, Break.FIN, 9, 0);
    assertThat(scene.stream(plan).statusCode()).isEqualTo(500);
    assertThat(scene.attempts.get(plan.seed())).isEqualTo(1);
    var inBand = scene.stream(Plan.failing(Fault.ERROR_EVENT, Break.FIN, 9, 0));
    assertThat(inBand.body())
        .isEqualTo("data: {\"error\":{\"message\":\"no KV\"}}\n\ndata: [DONE]\n\n");
  }

  @Test
  void aCallerWhoLeavesEndsTheWorkOfTheWorker() throws Exception {
    var request = scene.json(Scene.CHAT, "{\"model\":\"tiny\",\"stream\":true,\"forever\":true}");
    var answer = scene.client.sendAsync(request, BodyHandlers.ofInputStream()).get();
    answer.body().readNBytes(10_000);
    assertThat(scene.streaming()).isEqualTo(1);
    answer.body().close();
    Eventually.ends(() -> scene.first.cancelled() + scene.second.cancelled() == 0);
    scene.assertBooksAreEmpty();
  }

  @Test
  void aCallerWhoLeavesBeforeTheFirstTokenEndsItToo() throws Exception {
    var plan = Plan.failing(Fault.AFTER_HEAD, Break.STALL, 9, 0);
    scene.reopen(s -> s.with(patient(s.failures(), Duration.ofMinutes(1))));
    var answer = scene.client.sendAsync(scene.streamRequest(plan), BodyHandlers.ofString());
    Eventually.ends(() -> scene.streaming() == 0);
    answer.cancel(true);
    Eventually.ends(() -> scene.first.cancelled() + scene.second.cancelled() == 0);
    scene.assertBooksAreEmpty();
  }

  @Test
  void aCallerWhoDoesNotReadSlowsTheWorkerDownUntilItIsLetGo() throws Exception {
    var stall = Duration.ofMillis(300);
    scene.reopen(
        s -> {
          var limits = s.api().limits();
          var times = Records.with(limits, "stallTime", stall);
          return s.at(s.api().with(times), s.admin());
        });
    var body = "{\"model\":\"tiny\",\"stream\":true,\"forever\":true}";
    var answer =
        scene.client.sendAsync(scene.json(Scene.CHAT, body), BodyHandlers.ofInputStream()).get();
    // Another one is served meanwhile.
    assertThat(scene.stream(Plan.GOOD).body()).endsWith("[DONE]\n\n");
    Eventually.ends(() -> scene.streaming() > 0);
    assertThat(scene.first.flooded() + scene.second.flooded()).isLessThan(64 << 20);
    answer.body().close();
    scene.assertBooksAreEmpty();
  }

  @Test
  void moreThanMayWaitAreToldToComeAgain() throws Exception {
    scene.reopen(
        s ->
            s.with(new QueueLimits(1, 1, Duration.ofSeconds(20)))
                .with(patient(s.failures(), Duration.ofMinutes(1))));
    var stall = Plan.failing(Fault.AFTER_HEAD, Break.STALL, 1, 0);
    var running = scene.client.sendAsync(scene.streamRequest(stall), BodyHandlers.ofString());
    Eventually.ends(() -> scene.streaming() == 0);
    var waiting = scene.client.sendAsync(scene.streamRequest(Plan.GOOD), BodyHandlers.ofString());
    Eventually.ends(() -> scene.gateway.onLoop(() -> scene.gateway.flow().waiting()) == 0);
    var refused = scene.stream(Plan.GOOD);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("retry-after")).isPresent();
    running.cancel(true);
    assertThat(waiting.get().statusCode()).isEqualTo(200);
    scene.assertBooksAreEmpty();
  }

  @Test
  void whoWaitsTooLongIsToldSo() throws Exception {
    scene.reopen(s -> s.with(new QueueLimits(1, 1, Duration.ofMillis(50))));
    var stall = Plan.failing(Fault.AFTER_HEAD, Break.STALL, 9, 0);
    var running = scene.client.sendAsync(scene.streamRequest(stall), BodyHandlers.ofString());
    Eventually.ends(() -> scene.streaming() == 0);
    var late = scene.stream(Plan.GOOD);
    assertThat(late.statusCode()).isEqualTo(503);
    assertThat(late.body()).contains("queue_timeout");
    running.cancel(true);
    scene.assertBooksAreEmpty();
  }

  @Test
  void aWorkerThatIsNotWellGetsNothingUntilItIs() throws Exception {
    scene.first.healthy = false;
    Eventually.ends(() -> scene.ready() == 2);
    for (int i = 0; i < 4; i++) scene.stream(Plan.GOOD);
    assertThat(scene.first.seen()).isEmpty();
    scene.second.healthy = false;
    Eventually.ends(() -> scene.ready() > 0);
    assertThat(scene.get("/ready").statusCode()).isEqualTo(503);
    assertThat(scene.get("/health").statusCode()).isEqualTo(200);
    assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(503);
    scene.first.healthy = true;
    Eventually.ends(() -> scene.ready() == 0);
    assertThat(scene.get("/ready").statusCode()).isEqualTo(200);
    assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
  }

  @Test
  void aWorkerIsReadyWhenItIsWellAndHasItsModel() throws Exception {
    scene.first.healthy = false;
    Eventually.ends(() -> scene.ready() == 2);
    scene.first.modelsStatus = 503;
    scene.first.healthy = true;
    Thread.sleep(300);
    assertThat(scene.ready()).isEqualTo(1);
    scene.first.modelsStatus = 200;
    Eventually.ends(() -> scene.ready() == 1);
    // One that has told its models need not tell them again to stay.
    scene.first.modelsStatus = 503;
    Thread.sleep(300);
    assertThat(scene.ready()).isEqualTo(2);
  }

  @Test
  void aWorkerThatTellsNoModelsIsReadyWhenItIsWell() throws Exception {
    scene.first.healthy = false;
    scene.first.modelsStatus = 404;
    Eventually.ends(() -> scene.ready() == 2);
    scene.first.healthy = true;
    Eventually.ends(() -> scene.ready() == 1);
  }

  @Test
  void aWorkerThatComesBackWithAnotherModelGetsNothingForTheOldOne() throws Exception {
    scene.first.healthy = false;
    Eventually.ends(() -> scene.ready() == 2);
    scene.first.models = "{\"id\":\"other\",\"object\":\"model\"}";
    scene.first.healthy = true;
    Eventually.ends(() -> scene.ready() == 1);
    for (int i = 0; i < 8; i++) {
      assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
    }
    assertThat(scene.first.seen()).isEmpty();
  }

  @Test
  void aDrainedWorkerGetsNothingNew() throws Exception {
    var drain = URI.create(scene.gateway.adminUrl() + "/workers/drain");
    var request =
        HttpRequest.newBuilder(drain)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString("{\"worker\":\"two\"}"));
    assertThat(scene.send(request).body()).contains("draining");
    for (int i = 0; i < 4; i++) scene.stream(Plan.GOOD);
    assertThat(scene.second.seen()).isEmpty();
  }

  @Test
  void aWorkerIsDrainedByHandWithoutAContentTypeAndNotByAPageInABrowser() throws Exception {
    assertThat(drain("x-other", "1").statusCode()).isEqualTo(200);
    assertThat(drain("content-type", "application/x-www-form-urlencoded").statusCode())
        .isEqualTo(200);
    assertThat(drain("content-type", "text/plain").statusCode()).isEqualTo(415);
    assertThat(drain("origin", scene.gateway.adminUrl()).statusCode()).isEqualTo(415);
  }

  @Test
  void aBrokenBodyIsToldWhatIsWrongAndWhere() throws Exception {
    var broken = scene.post(Scene.CHAT, "{\"model\": tiny}");
    assertThat(broken.statusCode()).isEqualTo(400);
    assertThat(broken.body()).contains("unexpected ", " at line 1, column 1");
  }

  private HttpResponse<String> drain(String header, String value) {
    var drain = URI.create(scene.gateway.adminUrl() + "/workers/drain");
    return scene.send(
        HttpRequest.newBuilder(drain)
            .header(header, value)
            .POST(BodyPublishers.ofString("{\"worker\":\"two\"}")));
  }

  @Test
  void stoppingLetsStreamsEnd() throws Exception {
    scene.reopen(s -> s.with(patient(s.failures(), Duration.ofSeconds(1))));
    var stall = Plan.failing(Fault.AFTER_HEAD, Break.STALL, 9, 0);
    var running = scene.client.sendAsync(scene.streamRequest(stall), BodyHandlers.ofString());
    Eventually.ends(() -> scene.streaming() == 0);
    var stopped = CompletableFuture.runAsync(() -> scene.gateway.stop(Duration.ofSeconds(20)));
    var answer = running.get();
    assertThat(answer.statusCode()).isEqualTo(502);
    stopped.get();
  }

  /** These rules, which wait so long for a worker. */
  private static FailureRules patient(FailureRules rules, Duration time) {
    return Records.with(rules, "firstTime", time, "silenceTime", time);
  }
}
