package dev.kvasir.sim;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Recorded traces and results that lie beside the project and are not part of it. */
public final class Shared {
  private Shared() {}

  /** Opens the file; without it, the test is skipped. */
  public static InputStream open(String name) {
    try {
      return Files.newInputStream(path(name));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the path of the file; without it, the test is skipped. */
  public static Path path(String name) {
    var here = Path.of("").toAbsolutePath();
    var found =
        Stream.iterate(here, path -> path != null, Path::getParent)
            .map(folder -> folder.resolve("shared").resolve(name))
            .filter(Files::exists)
            .findFirst();
    Assumptions.assumeTrue(found.isPresent(), "there is no ../shared/" + name);
    return found.orElseThrow();
  }
}
