package dev.kvasir.live.model.text;

import dev.kvasir.live.model.gguf.GgufFile;
import dev.kvasir.live.model.gguf.ModelFileException;
import java.util.List;
import java.util.regex.Pattern;

/** The ways to cut a text into pieces before pairs are merged; no token spans two pieces. */
enum PreTokens {
  GPT2(
      "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
      "gpt-2 gpt2"),
  QWEN2(
      "(?i:'(?:[sdmt]|ll|ve|re))|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      "qwen2"),
  LLAMA3(
      "(?i:'(?:[sdmt]|ll|ve|re))|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      "llama-bpe llama3");

  private final Pattern pattern;
  private final String names;

  PreTokens(String pattern, String names) {
    this.pattern = Pattern.compile(pattern, Pattern.UNICODE_CHARACTER_CLASS);
    this.names = names;
  }

  Pattern pattern() {
    return pattern;
  }

  static PreTokens of(GgufFile file) throws ModelFileException {
    var name = file.metadata().optionalText("tokenizer.ggml.pre").orElse("gpt-2");
    for (var one : values()) {
      if (List.of(one.names.split(" ", -1)).contains(name)) return one;
    }
    throw new ModelFileException(
        file.path(),
        "its tokenizer cuts texts by "
            + ModelFileException.shown(name)
            + ", which is not supported",
        "use a model whose tokenizer.ggml.pre is gpt-2, qwen2 or llama-bpe");
  }
}
