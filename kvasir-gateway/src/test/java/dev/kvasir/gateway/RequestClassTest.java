package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.worker.Routing.Priorities;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.turn.TurnRules.ClassRule;
import dev.kvasir.router.view.SloClass;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The policies that decide by the class of a request, and by how much is asked. */
@Timeout(180)
class RequestClassTest {
  private static final String BODY =
      "{\"model\":\"tiny\",\"priority\":-9,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
          .formatted("Tell me about caches. ".repeat(9));

  private final Scene scene = new Scene();

  @TempDir private Path folder;

  @AfterEach
  void stop() throws InterruptedException {
    scene.assertBooksAreEmpty();
    scene.close();
  }

  @Test
  void theAdmissionPolicyRejectsTheClassesItIsToReject() {
    scene.reopen(settings -> settings.admitting(AdmissionPolicy.tierShed(0, 3)));
    assertThat(chat("", "sheddable").statusCode()).as("nothing to do yet").isEqualTo(200);
    scene.reopen(settings -> settings.admitting(AdmissionPolicy.rejectAll()));
    var refused = chat("", "critical");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body()).contains("\"not_admitted\"");
    assertThat(refused.headers().firstValue("retry-after")).contains("1");
    scene.reopen(settings -> settings.admitting(AdmissionPolicy.tokenBucket(1, 0.001)));
    assertThat(chat("", "standard").statusCode()).isEqualTo(429);
  }

  @Test
  void workersThatOrderByPriorityAreSentTheClassInPlaceOfWhatTheCallerWrote() {
    assertThat(priority("batch")).as("as written").isEqualTo(-9);
    scene.reopen(settings -> settings.with(settings.routing().with(Priorities.BY_CLASS)));
    assertThat(priority("critical")).isZero();
    assertThat(priority("standard")).isEqualTo(1);
    assertThat(priority("batch")).isEqualTo(5);
    assertThat(priority("background")).isEqualTo(7);

    var batchFirst = List.of(new ClassRule(SloClass.BATCH, 9, Duration.ZERO));
    var turns = Records.with(TurnRules.DEFAULT, "classes", batchFirst);
    scene.gateway.use(Records.with(QueueLimits.DEFAULT, "turns", turns));
    assertThat(priority("batch")).as("the priority of the settings").isEqualTo(-5);
    assertThat(priority("critical")).isZero();
  }

  @Test
  void aUsersKeyOpensNoClassAboveTheUsualOne() {
    var keys =
        new ApiKeys(
            List.of(
                ApiKey.of("ada", "ada's key"),
                ApiKey.of("root", "root's key").in(ApiKey.Scope.ADMIN)));
    UnaryOperator<GatewaySettings> byClass =
        settings ->
            settings
                .with(settings.routing().with(Priorities.BY_CLASS))
                .at(settings.api().with(keys), settings.admin());
    scene.reopen(byClass);
    assertThat(chat("ada's key", "critical").statusCode()).isEqualTo(200);
    assertThat(lastPriority()).isEqualTo(1);
    assertThat(chat("ada's key", "background").statusCode()).isEqualTo(200);
    assertThat(lastPriority()).isEqualTo(7);
    assertThat(chat("root's key", "critical").statusCode()).isEqualTo(200);
    assertThat(lastPriority()).isZero();
  }

  @Test
  void anUnknownClassIsAMistake() {
    var refused = chat("", "urgent");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body())
        .contains("must be one of critical, standard, batch, sheddable, background");
  }

  @Test
  void aCaptureTellsTheClass() throws Exception {
    var file = folder.resolve("traffic.jsonl");
    scene.reopen(settings -> settings.with(new JournalFiles(null, file, null)));
    assertThat(chat("", "batch").statusCode()).isEqualTo(200);
    assertThat(chat("", "standard").statusCode()).isEqualTo(200);
    Eventually.ends(() -> lines(file).size() < 2);
    assertThat(lines(file).getFirst()).contains("\"class\":\"batch\"");
    assertThat(lines(file).getLast()).doesNotContain("\"class\"");
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int priority(String sloClass) {
    assertThat(chat("", sloClass).statusCode()).isEqualTo(200);
    return lastPriority();
  }

  /** Of the request that came since, whichever worker it went to. */
  private int lastPriority() {
    var seen = scene.seen();
    scene.first.seen().clear();
    scene.second.seen().clear();
    assertThat(seen).hasSize(1);
    return seen.getFirst().body().path("priority").asInt();
  }

  private HttpResponse<String> chat(String key, String sloClass) {
    return scene.send(
        scene
            .request(Scene.CHAT)
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + key)
            .header("x-kvasir-slo-class", sloClass)
            .POST(BodyPublishers.ofString(BODY)));
  }
}
