package dev.kvasir.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The built-in model, as the tests find it. */
public final class PocketModel {
  private static final Path FOLDER = Path.of("target", "test-models");
  private static final Path FILE = made();

  private PocketModel() {}

  public static Path file() {
    return FILE;
  }

  /** The cache folder that it lies in. */
  public static Path folder() {
    return FOLDER;
  }

  private static Path made() {
    try {
      return BuiltInModel.file(Files.createDirectories(FOLDER));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
