package dev.kvasir.live.engine;

import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.gguf.ModelFileException;
import java.nio.file.Path;

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
      return new LoadedModel(
          ServedModel.of(name, path, cpu.fingerprint(), context, temperature), cpu);
    } catch (ModelFileException | RuntimeException e) {
      cpu.close();
      throw e;
    }
  }

  @Override
  public void close() {
    cpu.close();
  }
}
