package dev.kvasir.model.gguf;

import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Tokenizer;
import dev.kvasir.text.UnsupportedText;
import dev.kvasir.text.Vocabulary;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;

/** The tokenizer and the chat template that a GGUF file carries. */
public final class GgufText {
  private static final int CONTROL = 3;
  private static final int USER_DEFINED = 4;

  private GgufText() {}

  /** The tokenizer of the model in the file. */
  public static Tokenizer tokenizer(GgufFile file) throws ModelFileException {
    try {
      return Tokenizer.of(vocabulary(file));
    } catch (UnsupportedText e) {
      throw file.wrong(String.valueOf(e.getMessage()));
    }
  }

  /** The tokenizer of the model in the file at the path. */
  public static Tokenizer tokenizer(Path path) throws ModelFileException {
    try (var file = GgufFile.open(path)) {
      return tokenizer(file);
    }
  }

  /** The chat template of the model in the file. */
  public static ChatTemplate template(GgufFile file, Tokenizer tokenizer)
      throws ModelFileException {
    var template =
        file.metadata()
            .optionalText("tokenizer.chat_template")
            .orElseThrow(() -> refused(file, "it has no chat template"));
    try {
      return ChatTemplate.of(template, tokenizer);
    } catch (UnsupportedText e) {
      throw refused(file, String.valueOf(e.getMessage()));
    }
  }

  private static ModelFileException refused(GgufFile file, String wrong) {
    return new ModelFileException(
        file.path(), wrong, "use /v1/completions with a prompt of your own, or another model");
  }

  private static Vocabulary vocabulary(GgufFile file) throws ModelFileException {
    var metadata = file.metadata();
    var model = metadata.text("tokenizer.ggml.model");
    if (!model.equals("gpt2")) {
      throw file.wrong("the tokenizer " + UnsupportedText.shown(model) + " is not supported");
    }
    var tokens = metadata.texts("tokenizer.ggml.tokens");
    int last = tokens.size() - 1;
    var beginning =
        metadata.flag("tokenizer.ggml.add_bos_token")
            ? OptionalInt.of(metadata.number("tokenizer.ggml.bos_token_id", 0, last))
            : OptionalInt.empty();
    return new Vocabulary(
        metadata.optionalText("tokenizer.ggml.pre").orElse("gpt-2"),
        tokens,
        special(file, tokens.size()),
        metadata.texts("tokenizer.ggml.merges"),
        metadata.number("tokenizer.ggml.eos_token_id", 0, last),
        beginning);
  }

  private static Set<Integer> special(GgufFile file, int tokens) throws ModelFileException {
    var special = new HashSet<Integer>();
    var types = file.metadata().optionalNumbers("tokenizer.ggml.token_type");
    if (types == null) return special;
    if (types.length != tokens) {
      throw file.wrong(types.length + " token types for " + tokens + " tokens");
    }
    for (int id = 0; id < tokens; id++) {
      if (types[id] == CONTROL || types[id] == USER_DEFINED) special.add(id);
    }
    return special;
  }
}
