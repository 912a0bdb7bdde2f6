package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.GgufText;
import dev.kvasir.testing.SharedFiles;
import dev.kvasir.text.ChatMessage;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Holds the built-in model against what another implementation computed from its weights. */
class ReferenceTest {
  private static final double TOLERANCE = 1e-3;
  private static final String SYSTEM = "You are Kvasir, a pocket dictionary.";

  private static CpuModel model;
  private static TestMemory memory;
  private static Tokenizer tokenizer;
  private static ChatTemplate template;

  @BeforeAll
  static void open() throws IOException {
    model = CpuModel.open(PocketModel.file(), 2);
    memory = Sequences.memory(model, 16);
    try (var file = GgufFile.open(PocketModel.file())) {
      tokenizer = GgufText.tokenizer(file);
      template = GgufText.template(file, tokenizer);
    }
  }

  @AfterAll
  static void close() {
    model.close();
    memory.close();
  }

  /** One prompt with its ids, logits and answer. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Case(
      String prompt, int[] ids, int[] top, double[] logits, int[] answer, String text) {
    private static List<Case> of(InputStream in) {
      var cases = new ArrayList<Case>();
      for (var node : JsonMapper.shared().readTree(in)) {
        cases.add(
            new Case(
                node.get("prompt").asString(),
                ints(node.get("ids")),
                ints(node.get("top10")),
                IntStream.range(0, 10)
                    .mapToDouble(i -> node.get("top10_logits").get(i).asDouble())
                    .toArray(),
                ints(node.get("greedy")),
                node.get("text").asString()));
      }
      return cases;
    }

    private static int[] ints(JsonNode list) {
      return IntStream.range(0, list.size()).map(i -> list.get(i).asInt()).toArray();
    }
  }

  private static List<Case> own() throws IOException {
    try (var in = ReferenceTest.class.getResourceAsStream("reference.json")) {
      return Case.of(in);
    }
  }

  @Test
  void ourCopyOfTheExpectationsHolds() throws IOException {
    assertThat(own()).hasSize(2).allSatisfy(ReferenceTest::holds);
  }

  @Test
  void allExpectationsHold() throws IOException {
    try (var in = Files.newInputStream(SharedFiles.of("model/reference.json"))) {
      assertThat(Case.of(in)).hasSize(6).allSatisfy(ReferenceTest::holds);
    }
  }

  @Test
  void theChatTemplateMakesTheSameTokensOfTheMessages() throws IOException {
    for (var one : own()) {
      var question =
          one.prompt.replaceAll("(?s).*<\\|im_start\\|>user\n(.*?)<\\|im_end\\|>.*", "$1");
      var messages =
          List.of(
              new ChatMessage(ChatMessage.Role.SYSTEM, SYSTEM),
              new ChatMessage(ChatMessage.Role.USER, question));
      assertThat(template.encode(messages)).isEqualTo(one.ids);
    }
  }

  private static void holds(Case expected) {
    assertThat(tokenizer.encodeWithSpecials(expected.prompt)).isEqualTo(expected.ids);
    var slots = Sequences.slots(0, 16);
    var logits = Sequences.logits(model, memory, slots, expected.ids);
    for (int i = 0; i < expected.top.length; i++) {
      assertThat((double) logits[expected.top[i]]).isCloseTo(expected.logits[i], within(TOLERANCE));
    }
    int position = expected.ids.length;
    for (int i = 0; i < expected.answer.length; i++) {
      int token = Sequences.highest(logits);
      assertThat(token).as("token %d of the answer", i).isEqualTo(expected.answer[i]);
      logits =
          Sequences.step(model, memory, new StepRow(new int[] {token}, position++, slots, true));
    }
    assertThat(tokenizer.decode(expected.answer)).isEqualTo(expected.text);
  }
}
