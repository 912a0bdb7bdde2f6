package dev.kvasir.tools.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** LangChain4j, against gateway and fleet. */
@Timeout(180)
@Tag("all")
class LangChain4jTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final ChatRequest QUESTION =
      ChatRequest.builder().messages(UserMessage.from("What is the weather like?")).build();

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
    var whole = model(ClientScene.MODEL, ClientScene.KEY).build().chat(QUESTION);
    assertThat(whole.aiMessage().text()).isNotBlank();
    assertThat(whole.tokenUsage().outputTokenCount()).isEqualTo(20);
    var received = new Received(Integer.MAX_VALUE);
    streaming(ClientScene.MODEL, 20).chat(QUESTION, received);
    assertThat(received.whole.join().aiMessage().text()).isEqualTo(whole.aiMessage().text());
    assertThat(received.text.toString()).isEqualTo(whole.aiMessage().text());
  }

  @Test
  void toolsReachTheWorkerAndItsCallComesBack() {
    var tool = ToolSpecification.builder().name("weather").description("of a city").build();
    var request =
        ChatRequest.builder().messages(QUESTION.messages()).toolSpecifications(tool).build();
    var whole = model(ToolWorker.MODEL, ClientScene.KEY).build().chat(request);
    var received = new Received(Integer.MAX_VALUE);
    streaming(ToolWorker.MODEL, 20).chat(request, received);
    for (var answer : new ChatResponse[] {whole, received.whole.join()}) {
      var call = answer.aiMessage().toolExecutionRequests().getFirst();
      assertThat(call.name()).isEqualTo("weather");
      assertThat(call.arguments()).isEqualTo("{\"city\":\"Oslo\"}");
    }
    assertThat(scene.tools().lastRequest().at("/tools/0/function/description").asString())
        .isEqualTo("of a city");
  }

  @Test
  void errorsAreThoseTheClientKnows() {
    assertThatThrownBy(() -> model("nowhere", ClientScene.KEY).build().chat(QUESTION))
        .isInstanceOf(ModelNotFoundException.class)
        .hasMessageContaining("see /v1/models");
    var bad = model(ClientScene.MODEL, ClientScene.KEY).customParameters(Map.of("n", 2)).build();
    assertThatThrownBy(() -> bad.chat(QUESTION))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("one answer for each request");
    assertThatThrownBy(() -> model(ClientScene.MODEL, "wrong-key").build().chat(QUESTION))
        .isInstanceOf(AuthenticationException.class);
    var slow = model(ClientScene.MODEL, ClientScene.SLOW_KEY).build();
    assertThat(slow.chat(QUESTION).aiMessage().text()).isNotBlank();
    assertThatThrownBy(() -> slow.chat(QUESTION)).isInstanceOf(RateLimitException.class);
  }

  @Test
  void whoGivesUpWaitingLeavesNothingBehind() throws Exception {
    var hasty =
        model(ClientScene.MODEL, ClientScene.KEY)
            .maxCompletionTokens(ClientScene.ENDLESS)
            .timeout(Duration.ofMillis(300))
            .build();
    assertThatThrownBy(() -> hasty.chat(QUESTION)).isInstanceOf(TimeoutException.class);
    scene.awaitQuiet();
  }

  @Test
  void whoCancelsAStreamEndsTheWork() throws Exception {
    var received = new Received(5);
    streaming(ClientScene.MODEL, ClientScene.ENDLESS).chat(QUESTION, received);
    received.cancelled.await();
    scene.awaitQuiet();
    assertThat(received.whole).isNotDone();
  }

  private static OpenAiChatModel.OpenAiChatModelBuilder model(String name, String key) {
    return OpenAiChatModel.builder()
        .baseUrl(scene.url())
        .apiKey(key)
        .modelName(name)
        .maxCompletionTokens(20)
        .seed(5)
        .customParameters(Map.of("ignore_eos", true))
        .timeout(PATIENCE)
        .maxRetries(0);
  }

  private static OpenAiStreamingChatModel streaming(String name, int tokens) {
    return OpenAiStreamingChatModel.builder()
        .baseUrl(scene.url())
        .apiKey(ClientScene.KEY)
        .modelName(name)
        .maxCompletionTokens(tokens)
        .seed(5)
        .customParameters(Map.of("ignore_eos", true))
        .timeout(PATIENCE)
        .build();
  }

  /** Handler that collects a stream, and cancels it after that many pieces. */
  private static final class Received implements StreamingChatResponseHandler {
    final StringBuilder text = new StringBuilder();
    final CompletableFuture<ChatResponse> whole = new CompletableFuture<>();
    final CountDownLatch cancelled = new CountDownLatch(1);
    private final int piecesMax;
    private int pieces;

    Received(int piecesMax) {
      this.piecesMax = piecesMax;
    }

    @Override
    public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
      text.append(part.text());
      if (++pieces < piecesMax) return;
      context.streamingHandle().cancel();
      cancelled.countDown();
    }

    @Override
    public void onCompleteResponse(ChatResponse answer) {
      whole.complete(answer);
    }

    @Override
    public void onError(Throwable error) {
      whole.completeExceptionally(error);
    }
  }
}
