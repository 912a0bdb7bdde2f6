package dev.kvasir.cli.config;

import java.util.List;

/** Names of which one must be chosen. */
public final class Choices {
  private Choices() {}

  /** Refuses a number that is too small. */
  public static void atLeast(String key, long value, long least) {
    if (value >= least) return;
    throw new IllegalArgumentException(key + " " + value + ", expected " + least + " or more");
  }

  /** Refuses a word that is none of those, naming the nearest. */
  public static void require(String key, String word, List<String> known) {
    if (known.contains(word)) return;
    var failure = Values.unknown(word, known);
    throw new IllegalArgumentException(key + " is " + failure.getMessage(), failure);
  }
}
