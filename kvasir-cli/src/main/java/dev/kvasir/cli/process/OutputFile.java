package dev.kvasir.cli.process;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file that a command will write. */
public final class OutputFile {
  private OutputFile() {}

  /** Refuses a file that cannot be written, before the work whose result it takes. */
  public static void require(@Nullable Path... files) throws IOException {
    for (var file : files) if (file != null) require(file);
  }

  private static void require(Path file) throws IOException {
    var folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file)) throw refused(file, "it is a folder; name a file in it");
    if (folder == null || !Files.isDirectory(folder)) {
      throw refused(file, "its folder is not there; make it, or choose another file");
    }
    if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      throw refused(file, "this user may not write there; choose another file");
    }
  }

  private static FileSystemException refused(Path file, String why) {
    return new FileSystemException(file.toString(), null, why);
  }
}
