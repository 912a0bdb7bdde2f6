package dev.kvasir.sim.latency;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Recorded runs beside the checkout, for those who have them. */
final class Shared {
  private Shared() {}

  /** The file or folder of that name beside the checkout; skips the test where there is none. */
  static Path path(String name) {
    var found = find(name);
    assumeTrue(found.isPresent(), () -> "no ../shared/" + name + " beside this checkout");
    return found.orElseThrow();
  }

  private static Optional<Path> find(String name) {
    for (var folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      var candidate = folder.resolve("shared").resolve(name);
      if (Files.exists(candidate)) return Optional.of(candidate);
    }
    return Optional.empty();
  }
}
