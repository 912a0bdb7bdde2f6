package dev.kvasir.tools.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.OpenAIIoException;
import com.openai.errors.RateLimitException;
import com.openai.errors.UnauthorizedException;
import com.openai.models.FunctionDefinition;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** OpenAI's own client for Java, against gateway and fleet. */
@Timeout(180)
@Tag("all")
class OpenAiJavaTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private static ClientScene scene;

  @BeforeAll
  static void start() throws IOException {
    scene = new ClientScene();
  }

  @AfterAll
  static void stop() {
    scene.close();
  }

  @Test
  void aStreamSaysWhatTheWholeAnswerSays() {
    var client = client(ClientScene.KEY, PATIENCE);
    var whole = client.chat().completions().create(params(20).build());
    var text = whole.choices().getFirst().message().content().orElseThrow();
    assertThat(text).isNotBlank();
    assertThat(whole.usage().orElseThrow().completionTokens()).isEqualTo(20);
    var options = ChatCompletionStreamOptions.builder().includeUsage(true).build();
    try (var stream =
        client.chat().completions().createStreaming(params(20).streamOptions(options).build())) {
      var chunks = stream.stream().toList();
      assertThat(chunks.stream().map(OpenAiJavaTest::text).collect(Collectors.joining()))
          .isEqualTo(text);
      assertThat(chunks.getLast().usage().orElseThrow().completionTokens()).isEqualTo(20);
    }
  }

  @Test
  void theModelsAreListed() {
    var models = client(ClientScene.KEY, PATIENCE).models().list().data();
    assertThat(models.stream().map(model -> model.id()))
        .containsExactlyInAnyOrder(ClientScene.MODEL, ToolWorker.MODEL);
  }

  @Test
  void toolsReachTheWorkerAndItsCallComesBack() {
    var function = FunctionDefinition.builder().name("weather").description("of a city").build();
    var client = client(ClientScene.KEY, PATIENCE);
    var params = params(20).model(ToolWorker.MODEL).addFunctionTool(function);
    var whole = client.chat().completions().create(params.build());
    var call = whole.choices().getFirst().message().toolCalls().orElseThrow().getFirst();
    assertThat(call.asFunction().function().name()).isEqualTo("weather");
    assertThat(call.asFunction().function().arguments()).isEqualTo("{\"city\":\"Oslo\"}");
    assertThat(scene.tools().lastRequest().at("/tools/0/function/description").asString())
        .isEqualTo("of a city");
    try (var stream = client.chat().completions().createStreaming(params.build())) {
      assertThat(stream.stream().map(OpenAiJavaTest::arguments).collect(Collectors.joining()))
          .isEqualTo("{\"city\":\"Oslo\"}");
    }
  }

  @Test
  void errorsAreThoseTheClientKnows() {
    var client = client(ClientScene.KEY, PATIENCE);
    assertThatThrownBy(() -> create(client, params(1).model("nowhere")))
        .isInstanceOf(NotFoundException.class)
        .hasMessageContaining("see /v1/models");
    assertThatThrownBy(() -> create(client, params(1).putAdditionalBodyProperty("n", two())))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("one answer for each request");
    assertThatThrownBy(() -> create(client("wrong-key", PATIENCE), params(1)))
        .isInstanceOf(UnauthorizedException.class);
    var slow = client(ClientScene.SLOW_KEY, PATIENCE);
    create(slow, params(1));
    assertThatThrownBy(() -> create(slow, params(1)))
        .isInstanceOfSatisfying(
            RateLimitException.class,
            limited -> assertThat(limited.headers().values("retry-after")).hasSize(1));
  }

  @Test
  void whoGivesUpWaitingLeavesNothingBehind() throws Exception {
    var hasty = client(ClientScene.KEY, Duration.ofMillis(300));
    assertThatThrownBy(() -> create(hasty, params(ClientScene.ENDLESS)))
        .isInstanceOf(OpenAIIoException.class);
    scene.awaitQuiet();
  }

  @Test
  void whoClosesAStreamEndsTheWork() throws Exception {
    var client = client(ClientScene.KEY, PATIENCE);
    try (var stream =
        client.chat().completions().createStreaming(params(ClientScene.ENDLESS).build())) {
      var chunks = stream.stream().iterator();
      for (int i = 0; i < 5; i++) chunks.next();
      assertThat(scene.answering()).isEqualTo(1);
      // Asked once more, since the client ends a stream as soon as nobody can read on.
      assertThat(chunks.hasNext()).isTrue();
    }
    scene.awaitQuiet();
  }

  private static OpenAIClient client(String key, Duration patience) {
    return OpenAIOkHttpClient.builder()
        .baseUrl(scene.url())
        .apiKey(key)
        .timeout(patience)
        .maxRetries(0)
        .build();
  }

  private static ChatCompletionCreateParams.Builder params(int tokens) {
    return ChatCompletionCreateParams.builder()
        .model(ClientScene.MODEL)
        .addUserMessage("What is the weather like?")
        .maxCompletionTokens(tokens)
        .putAdditionalBodyProperty("seed", JsonValue.from(5))
        .putAdditionalBodyProperty("ignore_eos", JsonValue.from(true));
  }

  private static void create(OpenAIClient client, ChatCompletionCreateParams.Builder params) {
    var answer = client.chat().completions().create(params.build());
    assertThat(answer.choices()).hasSize(1);
  }

  private static JsonValue two() {
    return JsonValue.from(2);
  }

  private static String text(ChatCompletionChunk chunk) {
    return chunk.choices().stream()
        .map(choice -> choice.delta().content().orElse(""))
        .collect(Collectors.joining());
  }

  private static String arguments(ChatCompletionChunk chunk) {
    return chunk.choices().stream()
        .flatMap(choice -> choice.delta().toolCalls().stream().flatMap(calls -> calls.stream()))
        .map(call -> call.function().flatMap(function -> function.arguments()).orElse(""))
        .collect(Collectors.joining());
  }
}
