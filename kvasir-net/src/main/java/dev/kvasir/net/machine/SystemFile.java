package dev.kvasir.net.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads small files of /proc and /sys; on other systems they are missing. */
public final class SystemFile {
  private SystemFile() {}

  public static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException absent) {
      return List.of();
    }
  }
}
