package dev.kvasir.gateway.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.gateway.prompt.ModelText.Contents;
import dev.kvasir.gateway.request.PromptTokenizer;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.text.UnsupportedText;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** Files of a model are used for what a worker was found to agree with, and for nothing else. */
@Timeout(180)
class FileTokenizersTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String COMPLETIONS = "/v1/completions";
  private static final String TEMPLATE =
      "{% if tools %}{{ tools | tojson }}\n{% endif %}{% for m in messages %}<|im_start|>"
          + "{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  private static final String ASKED =
      "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello there\"}]}";

  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger requested = new AtomicInteger();

  /** A tokenizer and its cases, which the tests of kvasir-text have. */
  private static final Path CASES =
      Path.of(System.getProperty("kvasir.root", ".."))
          .resolve("kvasir-text/src/test/resources/dev/kvasir/text/qwen2.json.gz");

  @TempDir private Path folder;

  private ModelText text;

  @BeforeEach
  void write() throws Exception {
    var config = JsonMapper.shared().createObjectNode().put("chat_template", TEMPLATE);
    config.putObject("eos_token").put("content", "<|im_end|>");
    Files.writeString(folder.resolve("tokenizer_config.json"), config.toString());
    try (var in = Files.newInputStream(CASES);
        var unzipped = new GZIPInputStream(in)) {
      var read = JsonMapper.shared().readTree(unzipped.readAllBytes());
      Files.writeString(folder.resolve("tokenizer.json"), read.path("tokenizer").toString());
    }
    text = ModelText.read(folder);
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** A worker with the same files, but for what it does with requests for which this answers. */
  private final class LikeWorker implements PromptTokenizer {
    private final String other;

    LikeWorker(String other) {
      this.other = other;
    }

    @Override
    public Future<int[]> tokens(Context context, String path, byte[] fields) {
      requested.incrementAndGet();
      var request = JsonMapper.shared().readTree(fields);
      try {
        var tokens =
            path.equals(CHAT) ? text.chat(request, Contents.TEXTS) : text.completion(request);
        boolean differs = !other.isEmpty() && request.has(other);
        return Future.succeededFuture(differs ? Arrays.copyOf(tokens, tokens.length + 1) : tokens);
      } catch (UnsupportedText e) {
        return Future.failedFuture(e);
      }
    }
  }

  private int[] tokens(FileTokenizers tokenizers, String path, String body) throws Exception {
    var context = vertx.getOrCreateContext();
    return tokenizers
        .tokens(context, path, body.getBytes(StandardCharsets.UTF_8))
        .toCompletionStage()
        .toCompletableFuture()
        .get(20, TimeUnit.SECONDS);
  }

  private static String metrics(FileTokenizers tokenizers) {
    var out = new MetricsText();
    tokenizers.write(out);
    return out.toString();
  }

  @Test
  void promptsAreTokenisedHereOnceAWorkerAgreed() throws Exception {
    var tokenizers = new FileTokenizers(Map.of("m", text), new LikeWorker(""));
    var first = tokens(tokenizers, CHAT, ASKED);
    int before = requested.get();
    assertThat(tokens(tokenizers, CHAT, ASKED)).isEqualTo(first);
    assertThat(requested).hasValue(before);
    assertThat(metrics(tokenizers))
        .contains("kvasir_prompts_tokenized_total{by=\"file\",reason=\"\"} 1\n")
        .contains("kvasir_prompts_tokenized_total{by=\"worker\",reason=\"unchecked\"} 1\n");
  }

  @Test
  void aWorkerThatDisagreesIsAskedEachTime() throws Exception {
    var tokenizers = new FileTokenizers(Map.of("", text), new LikeWorker("messages"));
    for (int i = 0; i < 3; i++) tokens(tokenizers, CHAT, ASKED);
    assertThat(metrics(tokenizers))
        .contains("kvasir_prompts_tokenized_total{by=\"file\",reason=\"\"} 0\n")
        .contains("kvasir_prompts_tokenized_total{by=\"worker\",reason=\"differs\"} 2\n");
    tokens(tokenizers, COMPLETIONS, "{\"model\": \"m\", \"prompt\": \"plain text\"}");
    assertThat(metrics(tokenizers))
        .contains("kvasir_prompts_tokenized_total{by=\"file\",reason=\"\"} 1\n");
  }

  @Test
  void onlyTheKindOfRequestThatDiffersIsLeftToWorkers() throws Exception {
    var tokenizers = new FileTokenizers(Map.of("m", text), new LikeWorker("tools"));
    tokens(tokenizers, CHAT, ASKED);
    tokens(tokenizers, CHAT, ASKED);
    tokens(tokenizers, CHAT, ASKED.replace("\"messages\"", "\"tools\": [{}], \"messages\""));
    assertThat(metrics(tokenizers))
        .contains("kvasir_prompts_tokenized_total{by=\"file\",reason=\"\"} 1\n")
        .contains("kvasir_prompts_tokenized_total{by=\"worker\",reason=\"differs\"} 1\n");
  }

  @Test
  void aRequestThatIsNotFollowedIsLeftToWorkers() throws Exception {
    var tokenizers = new FileTokenizers(Map.of("m", text), new LikeWorker(""));
    tokens(tokenizers, CHAT, ASKED);
    assertThatThrownBy(
        () -> tokens(tokenizers, CHAT, ASKED.replace("}]}", "}], \"documents\": [1]}")));
    tokens(tokenizers, CHAT, ASKED.replace("\"m\"", "\"other\""));
    assertThat(metrics(tokenizers))
        .contains("kvasir_prompts_tokenized_total{by=\"worker\",reason=\"unsupported\"} 1\n")
        .contains("kvasir_prompts_tokenized_total{by=\"worker\",reason=\"no_file\"} 1\n");
  }

  @Test
  void aPromptOfTokensNeedsNobody() throws Exception {
    var tokenizers = new FileTokenizers(Map.of(), new LikeWorker(""));
    assertThat(tokens(tokenizers, COMPLETIONS, "{\"prompt\": [5, 6, 7]}")).containsExactly(5, 6, 7);
    assertThat(requested).hasValue(0);
  }

  @Test
  void aTemplateThatIsNotUnderstoodLeavesChatsToWorkers() throws Exception {
    Files.writeString(folder.resolve("chat_template.jinja"), "{% frobnicate %}");
    var without = ModelText.read(folder);
    var tokenizers = new FileTokenizers(Map.of("m", without), new LikeWorker(""));
    var first = tokens(tokenizers, CHAT, ASKED);
    int before = requested.get();
    assertThat(tokens(tokenizers, CHAT, ASKED)).isEqualTo(first);
    assertThat(requested).hasValue(before + 1);
    tokens(tokenizers, COMPLETIONS, "{\"model\": \"m\", \"prompt\": \"plain text\"}");
    assertThat(metrics(tokenizers))
        .contains("kvasir_prompts_tokenized_total{by=\"file\",reason=\"\"} 1\n")
        .contains("kvasir_prompts_tokenized_total{by=\"worker\",reason=\"differs\"} 1\n");
  }
}
