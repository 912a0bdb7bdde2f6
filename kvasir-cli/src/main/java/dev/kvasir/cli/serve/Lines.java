package dev.kvasir.cli.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines for people, one after the other. */
final class Lines {
  private final List<String> lines = new ArrayList<>();

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  void add(String line, Object... values) {
    lines.add(String.format(Locale.ROOT, line, values));
  }

  List<String> all() {
    return List.copyOf(lines);
  }
}
