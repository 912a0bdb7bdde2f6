package dev.kvasir.model.gguf;

import dev.kvasir.text.ByteLetters;
import java.util.ArrayList;
import java.util.List;

/** The smallest vocabulary there can be: the bytes, a few merges, and the tokens of ChatML. */
public final class TestVocabulary {
  public static final int SIZE = 3 + 256 + 5;

  private static final List<String> MERGES = List.of("t h", "th e", "Ġ the", "i n", "in g");

  private TestVocabulary() {}

  public static GgufWriter into(GgufWriter writer) {
    var tokens = new ArrayList<>(List.of("<|endoftext|>", "<|im_start|>", "<|im_end|>"));
    for (int b = 0; b < 256; b++) tokens.add(String.valueOf(ByteLetters.letter(b)));
    for (var merge : MERGES) tokens.add(merge.replace(" ", ""));
    var types = new int[SIZE];
    for (int i = 0; i < SIZE; i++) types[i] = i < 3 ? 3 : 1;
    return writer
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "gpt-2")
        .texts("tokenizer.ggml.tokens", tokens)
        .numbers("tokenizer.ggml.token_type", types)
        .texts("tokenizer.ggml.merges", MERGES)
        .number("tokenizer.ggml.bos_token_id", 0)
        .number("tokenizer.ggml.eos_token_id", 2);
  }
}
