package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import dev.kvasir.spec.Written;

/** Options of a command line, under the keys of a file. */
public record GivenOptions(Written.Keys keys) {
  public static final GivenOptions NOTHING =
      new GivenOptions(Written.Keys.none(Written.Origin.of("options")));

  /** Also that, unless it was not said. */
  public GivenOptions with(String option, String path, @Nullable String text) {
    if (text == null) return this;
    return new GivenOptions(keys.with(path, new Written.Text(text, Written.Origin.of(option))));
  }
}
