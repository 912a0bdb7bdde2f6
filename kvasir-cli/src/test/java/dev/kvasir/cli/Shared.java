package dev.kvasir.cli;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** Recorded traces and results that lie beside the project and are not part of it. */
final class Shared {
  private Shared() {}

  /** Returns the path of the file; without it, the test is skipped. */
  static Path path(String name) {
    for (var at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      var file = at.resolve("shared").resolve(name);
      if (Files.exists(file)) return file;
    }
    assumeTrue(false, "there is no ../shared/" + name);
    throw new AssertionError(name);
  }
}
