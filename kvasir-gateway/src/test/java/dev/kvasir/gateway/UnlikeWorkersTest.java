package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.server.Eventually;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers of one model that cannot do the same: each request goes where it can be answered. */
@Timeout(180)
class UnlikeWorkersTest {
  private static final String TOOLS =
      "{\"model\":\"tiny\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}";
  private static final String NO_PARSER =
      "{\"error\":{\"message\":\"auto tool choice requires a parser\",\"code\":400}}";

  private final RawScene scene = new RawScene();

  @AfterEach
  void stop() throws Exception {
    scene.assertBooksAreEmpty();
    scene.close();
  }

  @Test
  void aWorkerWithoutAToolParserIsLearntFromItsRefusal() throws Exception {
    scene.first.completing(
        call -> {
          if (call.body().contains("tools")) call.json(400, NO_PARSER);
          else call.json(200, "{}");
        });
    scene.second.completing(call -> call.json(200, "{}"));
    for (int i = 0; i < 10; i++) {
      assertThat(scene.post(RawScene.CHAT, TOOLS).statusCode()).isEqualTo(200);
    }
    assertThat(scene.first.seen()).as("asked once for tools").hasSizeLessThanOrEqualTo(1);
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics())
        .contains("kvasir_worker_lacks{worker=\"one\",need=\"tools\"} 1\n")
        .contains("kvasir_worker_lacks{worker=\"two\",need=\"tools\"} 0\n")
        .contains("kvasir_requests_total{outcome=\"complete\",status=\"200\"} 10\n");
    for (int i = 0; i < 10; i++) scene.post(RawScene.CHAT, "{\"model\":\"tiny\"}");
    assertThat(scene.first.seen()).as("still asked for the rest").hasSizeGreaterThan(1);
  }

  @Test
  void dataParallelEnginesAreWorkersOfTheirOwn() throws Exception {
    var server = scene.first.worker("server");
    scene.gateway.use(List.of(server.ranked(0), server.ranked(1)));
    scene.first.completing(call -> call.json(200, "{}"));
    for (int i = 0; i < 6; i++) {
      assertThat(scene.post(RawScene.CHAT, "{\"model\":\"tiny\"}").statusCode()).isEqualTo(200);
    }
    scene.assertBooksAreEmpty();
    assertThat(scene.first.seen())
        .extracting(call -> call.headers().get("x-data-parallel-rank"))
        .contains("0", "1")
        .doesNotContainNull();
    assertThat(scene.metrics())
        .contains("kvasir_worker_ready{worker=\"server#0\"} 1\n")
        .contains("kvasir_worker_ready{worker=\"server#1\"} 1\n");
  }

  @Test
  void otherModelsUnderOneNameAreCountedAndStillServed() throws Exception {
    var entry = "{\"data\":[{\"id\":\"tiny\",\"root\":\"/models/%s\"}]}";
    scene.first.on("/v1/models", call -> call.json(200, entry.formatted("tiny-7b")));
    scene.second.on("/v1/models", call -> call.json(200, entry.formatted("tiny-8b")));
    scene.gateway.use(List.of(scene.first.worker("a"), scene.second.worker("b")));
    scene.completing(call -> call.json(200, "{}"));
    assertThat(scene.post(RawScene.CHAT, "{\"model\":\"tiny\"}").statusCode()).isEqualTo(200);
    Eventually.ends(() -> !scene.metrics().contains("kvasir_unlike_models 1\n"));
    scene.second.on("/v1/models", call -> call.json(200, entry.formatted("other/tiny-7b")));
    scene.gateway.use(List.of(scene.first.worker("a"), scene.second.worker("c")));
    Eventually.ends(() -> !scene.metrics().contains("kvasir_unlike_models 0\n"));
  }

  @Test
  void aModelWhoseNameHasSlashesIsToldByItsName() {
    var card = "{\"id\":\"meta-llama/Llama-3\",\"object\":\"model\"}";
    scene.first.on("/v1/models", call -> call.json(200, "{\"data\":[" + card + "]}"));
    scene.gateway.use(List.of(scene.first.worker("a")));
    for (var path :
        List.of("meta-llama/Llama-3", "meta-llama%2FLlama-3", "meta-llama%2fLlama%2D3")) {
      var answer = scene.get("/v1/models/" + path);
      assertThat(answer.statusCode()).as(path).isEqualTo(200);
      assertThat(answer.body()).isEqualTo(card);
    }
    assertThat(scene.get("/v1/models/Llama-3").statusCode()).isEqualTo(404);
  }

  @Test
  void whatNoWorkerCanDoIsAnsweredInTheWordsOfOne() {
    scene.completing(call -> call.json(400, NO_PARSER));
    var answer = scene.post(RawScene.CHAT, TOOLS);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).isEqualTo(NO_PARSER);
    assertThat(Stream.concat(scene.first.seen().stream(), scene.second.seen().stream())).hasSize(2);
  }

  @Test
  void aMistakeOfTheCallerIsNotTriedTwice() {
    scene.completing(call -> call.json(400, NO_PARSER));
    var answer = scene.post(RawScene.CHAT, "{\"model\":\"tiny\",\"max_tokens\":-1}");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).isEqualTo(NO_PARSER);
    assertThat(Stream.concat(scene.first.seen().stream(), scene.second.seen().stream())).hasSize(1);
  }

  @Test
  void whatOneWorkerDoesNotHaveIsLookedForAtAnother() {
    scene.first.completing(call -> call.json(404, "{\"detail\":\"Not Found\"}"));
    scene.second.completing(call -> call.json(200, "{}"));
    for (int i = 0; i < 4; i++) {
      var body = "{\"model\":\"tiny\",\"previous_response_id\":\"r\"}";
      assertThat(scene.post("/v1/responses", body).statusCode()).isEqualTo(200);
      assertThat(scene.post("/v1/rerank", "{\"model\":\"tiny\"}").statusCode()).isEqualTo(200);
    }
  }
}
