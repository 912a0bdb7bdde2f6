package dev.kvasir.live.engine;

import dev.kvasir.live.model.BuiltInModel;
import dev.kvasir.live.model.CpuModel;
import dev.kvasir.live.model.gguf.GgufFile;
import dev.kvasir.live.model.gguf.ModelFileException;
import dev.kvasir.live.model.text.ChatTemplate;
import dev.kvasir.live.model.text.Tokenizer;
import java.nio.file.Path;
import java.util.Optional;

/** A model in memory, ready to be served. */
public record LoadedModel(ServedModel served, CpuModel cpu) implements AutoCloseable {
  private static final double TEMPERATURE_USUAL = 1;

  /** A dictionary is asked for what a word means, not for what it might. */
  private static final double TEMPERATURE_BUILT_IN = 0;

  /** Loads the model that comes with Kvasir. */
  public static LoadedModel builtIn(Path cacheFolder, int threads) throws ModelFileException {
    var file = BuiltInModel.file(cacheFolder);
    return open(BuiltInModel.NAME, file, TEMPERATURE_BUILT_IN, threads);
  }

  /** Loads the model in the file, to compute with so many threads. */
  public static LoadedModel open(String name, Path path, int threads) throws ModelFileException {
    return open(name, path, TEMPERATURE_USUAL, threads);
  }

  private static LoadedModel open(String name, Path path, double temperature, int threads)
      throws ModelFileException {
    var cpu = CpuModel.open(path, threads);
    try {
      int context = cpu.shape().contextTokens();
      return new LoadedModel(served(name, path, cpu.fingerprint(), context, temperature), cpu);
    } catch (ModelFileException | RuntimeException e) {
      cpu.close();
      throw e;
    }
  }

  private static ServedModel served(
      String name, Path path, String fingerprint, int context, double temperature)
      throws ModelFileException {
    try (var file = GgufFile.open(path)) {
      var tokenizer = Tokenizer.of(file);
      Optional<ChatTemplate> chat = Optional.empty();
      var refusal = "";
      try {
        chat = Optional.of(ChatTemplate.of(file, tokenizer));
      } catch (ModelFileException e) {
        refusal = String.valueOf(e.getMessage());
      }
      return new ServedModel(name, fingerprint, context, temperature, tokenizer, chat, refusal);
    }
  }

  @Override
  public void close() {
    cpu.close();
  }
}
