package dev.kvasir.embedded;

import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.GgufText;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.FolderText;
import dev.kvasir.text.Tokenizer;
import dev.kvasir.text.UnsupportedText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A model as its callers see it.
 *
 * @param name what requests call it
 * @param fingerprint names everything that shapes keys and values
 * @param contextTokens how many tokens a conversation may have
 * @param temperature what counts where a request says nothing
 * @param chat how conversations become tokens; empty for a model that was not made for them
 * @param chatRefusal why there is no {@code chat}; empty where there is
 */
public record ServedModel(
    String name,
    String fingerprint,
    int contextTokens,
    double temperature,
    Tokenizer tokenizer,
    Optional<ChatTemplate> chat,
    String chatRefusal) {
  /** Returns the model as the file describes it. */
  static ServedModel of(
      String name, Path path, String fingerprint, int contextTokens, double temperature)
      throws ModelFileException {
    try (var file = GgufFile.open(path)) {
      var tokenizer = GgufText.tokenizer(file);
      Optional<ChatTemplate> chat = Optional.empty();
      var refusal = "";
      try {
        chat = Optional.of(GgufText.template(file, tokenizer));
      } catch (ModelFileException e) {
        refusal = String.valueOf(e.getMessage());
      }
      return new ServedModel(
          name, fingerprint, contextTokens, temperature, tokenizer, chat, refusal);
    }
  }

  /** Returns the model as the folder describes it; a device has loaded it. */
  static ServedModel ofFolder(
      String name, Path path, String fingerprint, ModelDevice device, double temperature)
      throws ModelFileException {
    try {
      var text = FolderText.read(path, device.vocabulary());
      return new ServedModel(
          name,
          fingerprint,
          device.contextTokens(),
          temperature,
          text.tokenizer(),
          text.chat(),
          text.chatRefusal());
    } catch (UnsupportedText | IOException e) {
      throw new ModelFileException(
          path, String.valueOf(e.getMessage()), "use a model with a tokenizer of bytes");
    }
  }

  /** One that speaks the tokens of the built-in model, for engines that compute nothing. */
  public static ServedModel withoutWeights(String name, Path cacheFolder, int contextTokens)
      throws ModelFileException {
    return of(name, BuiltInModel.file(cacheFolder), "no weights: " + name, contextTokens, 1);
  }
}
