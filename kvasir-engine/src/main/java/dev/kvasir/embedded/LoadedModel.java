package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.gguf.ModelFileException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A model in memory, ready to be served. */
public record LoadedModel(ServedModel served, ModelDevice device) implements AutoCloseable {
  private static final double TEMPERATURE_USUAL = 1;

  /** The built-in dictionary gives definite answers. */
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
          ServedModel.of(name, path, cpu.fingerprint(), context, temperature), new CpuDevice(cpu));
    } catch (ModelFileException | RuntimeException e) {
      cpu.close();
      throw e;
    }
  }

  /**
   * The model in the file or the folder as a device has loaded it; the built-in one where there is
   * none.
   */
  public static LoadedModel on(ModelDevice device, @Nullable Path path, Path cacheFolder)
      throws ModelFileException {
    var print = device.fingerprint();
    int context = device.contextTokens();
    if (path == null) {
      var file = BuiltInModel.file(cacheFolder);
      var name = BuiltInModel.NAME;
      return new LoadedModel(
          ServedModel.of(name, file, print, context, TEMPERATURE_BUILT_IN), device);
    }
    var name = String.valueOf(path.getFileName()).replaceFirst("\\.gguf$", "");
    if (Files.isDirectory(path)) {
      var served = ServedModel.ofFolder(name, path, print, device, TEMPERATURE_USUAL);
      return new LoadedModel(served, device);
    }
    return new LoadedModel(ServedModel.of(name, path, print, context, TEMPERATURE_USUAL), device);
  }

  @Override
  public void close() {
    device.close();
  }
}
