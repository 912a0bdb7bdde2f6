package dev.kvasir.live.engine;

import dev.kvasir.live.model.CpuModel;
import dev.kvasir.live.model.gguf.GgufFile;
import dev.kvasir.live.model.gguf.ModelFileException;
import dev.kvasir.live.model.text.ChatTemplate;
import dev.kvasir.live.model.text.Tokenizer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A model in memory, ready to be served.
 *
 * @param name what requests call it
 * @param chat how conversations become tokens; empty for a model that was not made for them
 * @param chatRefusal why there is no {@code chat}; empty where there is
 */
public record LoadedModel(
    String name, CpuModel cpu, Tokenizer tokenizer, Optional<ChatTemplate> chat, String chatRefusal)
    implements AutoCloseable {

  /** Loads the model in the file, to compute with so many threads. */
  public static LoadedModel open(String name, Path path, int threads) throws ModelFileException {
    try (var file = GgufFile.open(path)) {
      var tokenizer = Tokenizer.of(file);
      Optional<ChatTemplate> chat = Optional.empty();
      var refusal = "";
      try {
        chat = Optional.of(ChatTemplate.of(file, tokenizer));
      } catch (ModelFileException e) {
        refusal = String.valueOf(e.getMessage());
      }
      return new LoadedModel(name, CpuModel.open(path, threads), tokenizer, chat, refusal);
    }
  }

  public int contextTokens() {
    return cpu.shape().contextTokens();
  }

  @Override
  public void close() {
    cpu.close();
  }
}
