package dev.kvasir.live.doctor;

import java.nio.file.OpenOption;
import java.util.Optional;

/**
 * The JDK's option that opens a file past the page cache. Looked up by name: it is exported, but
 * javac warns of com.sun.nio.file as of internals, and nothing but a flag for all code stops it.
 */
final class DirectOption {
  private static final String OPTIONS = "com.sun.nio.file.ExtendedOpenOption";

  private DirectOption() {}

  static Optional<OpenOption> find() {
    try {
      for (Object option : Class.forName(OPTIONS).getEnumConstants()) {
        if (option instanceof OpenOption open && option.toString().equals("DIRECT")) {
          return Optional.of(open);
        }
      }
      return Optional.empty();
    } catch (ClassNotFoundException reducedRuntime) {
      return Optional.empty();
    }
  }
}
