package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import de.kherud.llama.InferenceParameters;
import de.kherud.llama.LlamaModel;
import de.kherud.llama.ModelParameters;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.GgufText;
import dev.kvasir.text.ChatMessage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Asks llama.cpp the same, with the same file. */
@Tag("all")
class LlamaCppTest {
  private static final String SYSTEM = "You are Kvasir, a pocket dictionary.";
  private static final List<String> QUESTIONS =
      List.of(
          "What does lantern mean?",
          "Define glacier.",
          "Use candle in a sentence.",
          "Give me a synonym for brave.",
          "What kind of thing is sparrow?");

  @Test
  void llamaCppAnswersTheSame() throws IOException {
    try (var theirs = theirs();
        var ours = CpuModel.open(PocketModel.file(), 2);
        var memory = Sequences.memory(ours, 16);
        var file = GgufFile.open(PocketModel.file())) {
      var tokenizer = GgufText.tokenizer(file);
      var template = GgufText.template(file, tokenizer);
      for (var question : QUESTIONS) {
        var text =
            "<|im_start|>system\n"
                + SYSTEM
                + "<|im_end|>\n<|im_start|>user\n"
                + question
                + "<|im_end|>\n<|im_start|>assistant\n";
        var prompt =
            template.encode(
                List.of(
                    new ChatMessage(ChatMessage.Role.SYSTEM, SYSTEM),
                    new ChatMessage(ChatMessage.Role.USER, question)));
        assertThat(theirs.encode(text)).isEqualTo(prompt);
        var parameters =
            new InferenceParameters(text).setTemperature(0).setNPredict(80).setCachePrompt(false);
        var answer = tokenizer.decode(answer(ours, memory, prompt));
        assertThat(theirs.complete(parameters)).as(question).isEqualTo(answer);
      }
    }
  }

  private static LlamaModel theirs() {
    try {
      return new LlamaModel(
          new ModelParameters()
              .setModel(PocketModel.file().toString())
              .setThreads(2)
              .setCtxSize(1024)
              .disableLog());
    } catch (LinkageError | RuntimeException missing) {
      return abort("llama.cpp does not load here: " + missing);
    }
  }

  private static int[] answer(CpuModel model, TestMemory memory, int[] prompt) {
    var slots = Sequences.slots(0, 16);
    var logits = Sequences.logits(model, memory, slots, prompt);
    var answer = new ArrayList<Integer>();
    for (int token = Sequences.highest(logits);
        token != 2 && answer.size() < 80;
        token = Sequences.highest(logits)) {
      var row = new StepRow(new int[] {token}, prompt.length + answer.size(), slots, true);
      answer.add(token);
      logits = Sequences.step(model, memory, row);
    }
    return answer.stream().mapToInt(Integer::intValue).toArray();
  }
}
