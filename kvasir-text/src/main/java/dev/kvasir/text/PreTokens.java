package dev.kvasir.text;

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

  static PreTokens of(String name) throws UnsupportedText {
    for (var one : values()) {
      if (List.of(one.names.split(" ", -1)).contains(name)) return one;
    }
    throw new UnsupportedText(
        "its tokenizer cuts texts by "
            + UnsupportedText.shown(name)
            + ", and only gpt-2, qwen2 and llama-bpe are supported");
  }
}
