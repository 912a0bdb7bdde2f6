package dev.kvasir.live.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The built-in model, as the tests find it. */
public final class PocketModel {
  private static final Path FILE = made();

  private PocketModel() {}

  public static Path file() {
    return FILE;
  }

  private static Path made() {
    try {
      var folder = Files.createDirectories(Path.of("target", "test-models"));
      return BuiltInModel.file(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
