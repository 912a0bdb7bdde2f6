package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.request.WorkerTokenizer;
import dev.kvasir.gateway.worker.ModelNames;
import dev.kvasir.gateway.worker.Routing;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how prompts get the names by which they are found in the caches of workers. */
@Timeout(180)
class PromptNamingTest {
  private static final String LONG = "once upon a time ".repeat(100);

  private final Scene scene = new Scene();

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void promptsAreNamedByTheirTokensWhereWorkersTellThem() throws Exception {
    tokens(40);
    named(Routing.Naming.TOKENS);
    assertThat(believed(send("tiny", "a prompt"))).isZero();
    // Other bytes, the same tokens: two full blocks of sixteen are known.
    assertThat(believed(send("tiny", "another one"))).isEqualTo(32);
    assertThat(metrics())
        .contains("kvasir_prompts_named_total{by=\"tokens\",reason=\"\"} 2\n")
        .contains("kvasir_prompt_tokens_total 80\n");
  }

  @Test
  void promptsThatAreNamedByTheirBytesAreCountedWithTheReason() throws Exception {
    send("tiny", "a prompt");
    assertThat(metrics())
        .contains("kvasir_prompts_named_total{by=\"bytes\",reason=\"configured\"} 1\n");
    tokens(40);
    scene.first.tokenizeMillis = 10_000;
    scene.second.tokenizeMillis = 10_000;
    named(Routing.Naming.TOKENS);
    send("tiny", "a prompt");
    scene.post("/v1/embeddings", "{\"model\":\"tiny\",\"input\":\"a text\"}");
    assertThat(metrics())
        .contains("kvasir_prompts_named_total{by=\"bytes\",reason=\"timeout\"} 1\n")
        .contains("kvasir_prompts_named_total{by=\"bytes\",reason=\"embeddings\"} 1\n")
        .contains("kvasir_prompts_named_total{by=\"tokens\",reason=\"\"} 0\n");
  }

  @Test
  void aLongPromptHasMoreTimeToBeTokenized() throws Exception {
    var time = WorkerTokenizer.Time.DEFAULT;
    assertThat(time.of(0)).isEqualTo(Duration.ofMillis(100));
    assertThat(time.of(500_000)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(2));
    assertThat(time.of(Integer.MAX_VALUE)).isEqualTo(Duration.ofSeconds(5));
    tokens(40);
    scene.first.tokenizeMillis = 150;
    scene.second.tokenizeMillis = 150;
    named(Routing.Naming.TOKENS);
    send("tiny", "a long prompt ".repeat(100_000));
    assertThat(metrics()).contains("kvasir_prompts_named_total{by=\"tokens\",reason=\"\"} 1\n");
  }

  @Test
  void tokensAreAskedOfWorkersThatServeTheModel() {
    tokens(40);
    scene.second.models = "{\"id\":\"other\"}";
    named(Routing.Naming.TOKENS);
    for (int i = 0; i < 4; i++) send("other", "a prompt");
    assertThat(scene.first.tokenized()).isZero();
    assertThat(scene.second.tokenized()).isEqualTo(4);
  }

  @Test
  void aModelIsFoundUnderEachOfItsNamesAndUnderNone() {
    models("{\"id\":\"tiny\",\"root\":\"org/tiny\"},{\"id\":\"alias\",\"root\":\"org/tiny\"}");
    named(Routing.Naming.BYTES);
    send("tiny", LONG);
    for (var name : List.of("alias", "", "tiny")) {
      assertThat(believed(send(name, LONG))).as(name).isGreaterThan(300);
    }
  }

  @Test
  void aModelIsNeverFoundInTheBlocksOfAnother() {
    models(
        "{\"id\":\"tiny\",\"root\":\"org/tiny\"},"
            + "{\"id\":\"adapter\",\"root\":\"/lora\",\"parent\":\"tiny\"}");
    named(Routing.Naming.BYTES);
    send("tiny", LONG);
    assertThat(believed(send("adapter", LONG))).isZero();
    assertThat(believed(send("adapter", LONG))).isGreaterThan(300);
    models("{\"id\":\"tiny\",\"root\":\"org/tiny\"},{\"id\":\"other\",\"root\":\"org/other\"}");
    named(Routing.Naming.BYTES);
    send("tiny", LONG);
    assertThat(believed(send("other", LONG))).isZero();
    assertThat(believed(send("tiny", LONG))).isGreaterThan(300);
  }

  @Test
  void aNameThatIsAnAdapterForOneWorkerIsKeptForAll() {
    var base = Map.of("x", "{\"id\":\"x\",\"root\":\"org/x\"}");
    var adapted = Map.of("y", "{\"id\":\"y\"}", "x", "{\"id\":\"x\",\"parent\":\"y\"}");
    assertThat(ModelNames.of(List.of(base)).of("x")).isEmpty();
    assertThat(ModelNames.of(List.of(base, adapted)).of("x")).isEqualTo("x");
    assertThat(ModelNames.of(List.of(base, adapted)).of("y")).isEmpty();
    assertThat(ModelNames.of(List.of(base)).of("unheard")).isEqualTo("unheard");
  }

  private void named(Routing.Naming naming) {
    scene.reopen(s -> s.with(s.routing().with(naming)));
  }

  private void tokens(int count) {
    var list = IntStream.range(0, count).mapToObj(String::valueOf).collect(Collectors.joining(","));
    scene.first.tokens = list;
    scene.second.tokens = list;
  }

  private void models(String list) {
    scene.first.models = list;
    scene.second.models = list;
  }

  private HttpResponse<String> send(String model, String text) {
    var named = model.isEmpty() ? "" : "\"model\":\"" + model + "\",";
    var messages = "[{\"role\":\"user\",\"content\":\"" + text + "\"}]";
    var answer = scene.post(Scene.CHAT, "{" + named + "\"messages\":" + messages + "}");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer;
  }

  private static int believed(HttpResponse<String> answer) {
    return Integer.parseInt(answer.headers().firstValue("x-kvasir-cached-tokens").orElseThrow());
  }

  private String metrics() throws InterruptedException {
    scene.assertBooksAreEmpty();
    return scene
        .send(HttpRequest.newBuilder(URI.create(scene.gateway.adminUrl() + "/metrics")))
        .body();
  }
}
