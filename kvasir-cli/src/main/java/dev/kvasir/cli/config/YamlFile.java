package dev.kvasir.cli.config;

import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A YAML file of settings; the files that it names lie in its folder. */
public final class YamlFile {
  private static final long BYTES_MAX = 1 << 20;

  private YamlFile() {}

  public static Written.Keys read(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new FileSystemException(file.toString(), null, "it is a folder; name a file in it");
    }
    if (Files.size(file) > BYTES_MAX) {
      throw new SpecError(file.toString(), "the file is larger than 1 MiB", "name a configuration");
    }
    var folder = String.valueOf(file.toAbsolutePath().getParent());
    try (var reader = Files.newBufferedReader(file)) {
      return YamlReader.read(file.toString(), folder, reader);
    }
  }
}
