package dev.kvasir.cli.config;

import dev.kvasir.Nullable;

/** Settings and options that are gone, and what to use in their place. */
public final class Removed {
  private static final String FIT =
      "make a profile of the deployment with 'kvasir calibrate', and use ";

  private Removed() {}

  /** Returns what to do instead of an option; null if it never was one. */
  public static @Nullable String option(String option) {
    return option.equals("--fit") ? FIT + "--profile" : null;
  }

  /** Returns what to do instead of a key, named by its path; null if it never was one. */
  static @Nullable String key(String path) {
    return path.equals("hardware.fit") ? FIT + "hardware.profile" : null;
  }
}
