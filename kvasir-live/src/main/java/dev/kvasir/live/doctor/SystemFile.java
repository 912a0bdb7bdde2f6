package dev.kvasir.live.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads the small files in which Linux tells about itself; elsewhere they are just not there. */
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
