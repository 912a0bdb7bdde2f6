package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import dev.kvasir.spec.Written;

/** Options of a command line, under the keys of a file. */
public record Said(Written.Keys keys) {
  public static final Said NOTHING = new Said(Written.Keys.none(Written.Origin.of("options")));

  /** Also that, unless it was not said. */
  public Said with(String option, String path, @Nullable String text) {
    if (text == null) return this;
    return new Said(keys.with(path, new Written.Text(text, Written.Origin.of(option))));
  }
}
