package dev.kvasir.cli.config;

import dev.kvasir.Nullable;

/** Settings that earlier versions had, with what to do instead. */
public final class RemovedSettings {
  private RemovedSettings() {}

  /** Returns what to do instead of using this key or option; null if there never was such a one. */
  public static @Nullable String remedy(String name) {
    return switch (name) {
      case "listen.warm-up", "--warm-up" ->
          "leave it out: a gateway starts with the profiles in the AOT cache, see './kvasir"
              + " prepare'";
      case "hardware.fit", "--fit" ->
          "make a profile of the deployment with 'kvasir calibrate', and use --profile or"
              + " hardware.profile";
      default -> null;
    };
  }
}
