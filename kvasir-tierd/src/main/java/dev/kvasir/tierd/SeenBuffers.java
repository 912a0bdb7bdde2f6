package dev.kvasir.tierd;

import static java.lang.System.Logger.Level.WARNING;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * A list of the buffers that engines had mapped when they connected, in a file beside the socket:
 * if the daemon and an engine are killed together, the next daemon deletes what the engine left.
 */
final class SeenBuffers {
  private static final System.Logger LOG = System.getLogger(SeenBuffers.class.getName());
  private static final String SUFFIX = ".buffers";

  private final Path file;

  SeenBuffers(Path socket) {
    this.file = socket.resolveSibling(socket.getFileName() + SUFFIX);
  }

  /** Notes a buffer; on failure the buffer is just not deleted later. */
  synchronized void add(Path buffer) {
    try {
      Files.writeString(
          file, buffer + "\n", UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      LOG.log(WARNING, "{0} cannot be written: {1}", file, e.getMessage());
    }
  }

  /** Deletes those of the list that nobody has mapped; keeps the others on it. */
  synchronized void removeOrphans(List<Path> folders) {
    try {
      if (!Files.isRegularFile(file)) return;
      var left = new StringBuilder();
      for (var line : Files.readAllLines(file, UTF_8).stream().distinct().toList()) {
        var buffer = Path.of(line);
        if (!folders.contains(buffer.getParent()) || !Files.isRegularFile(buffer)) continue;
        if (EngineBuffer.removeIfUnused(buffer)) {
          LOG.log(WARNING, "{0} is deleted: the engine that made it is gone", buffer);
        } else {
          left.append(line).append('\n');
        }
      }
      Files.writeString(file, left, UTF_8);
    } catch (IOException | RuntimeException e) {
      LOG.log(WARNING, "{0} cannot be read: {1}", file, e.getMessage());
    }
  }
}
