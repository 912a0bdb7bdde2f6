package dev.kvasir.tools.doctor;

import java.nio.file.Path;
import java.util.Map;

/** Folder in which Kvasir keeps its files unless it is told otherwise. */
public final class CacheFolder {
  private CacheFolder() {}

  /**
   * The folder {@code kvasir} in {@code $XDG_CACHE_HOME}, or in {@code ~/.cache} where that is
   * unset. A relative one counts as unset, as the XDG specification has it.
   */
  public static Path usual(Map<String, String> environment, Path userHome) {
    Path home = absolute(environment.getOrDefault("HOME", ""), userHome);
    Path caches = absolute(environment.getOrDefault("XDG_CACHE_HOME", ""), home.resolve(".cache"));
    return caches.resolve("kvasir");
  }

  private static Path absolute(String path, Path otherwise) {
    return path.startsWith("/") ? Path.of(path) : otherwise;
  }
}
