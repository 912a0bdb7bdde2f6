package dev.kvasir.testing;

import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Files;
import java.nio.file.Path;

/** The files that lie beside the checkout where the model was made. */
public final class SharedFiles {
  private SharedFiles() {}

  /** The file, or the test is skipped for want of it. */
  public static Path of(String name) {
    for (var folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      var file = folder.resolve("shared").resolve(name);
      if (Files.isRegularFile(file)) return file;
    }
    return abort("there is no shared/" + name + " beside the checkout");
  }
}
