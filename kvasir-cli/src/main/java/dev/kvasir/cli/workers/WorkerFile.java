package dev.kvasir.cli.workers;

import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.cli.config.YamlFile;
import dev.kvasir.cli.settings.WorkerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A file with a list of workers, read again when it changes.
 *
 * <p>It is read once it is the same in two polls, since its writer may still be at work at the
 * first.
 */
final class WorkerFile implements WorkerDiscovery.Lookup {
  /** Contents of the file. */
  public record Listed(List<WorkerSettings> workers) {
    public static final Listed DEFAULT = new Listed(List.of());

    public Listed {
      workers = List.copyOf(workers);
      for (var worker : workers) {
        if (worker.url().isEmpty()) throw new IllegalArgumentException("a worker without url");
      }
    }
  }

  private final Path file;
  private String last = "";
  private String read = "";
  private List<WorkerSettings> workers = List.of();

  WorkerFile(Path file) {
    this.file = file;
  }

  @Override
  public List<WorkerSettings> workers() throws IOException {
    var now = Files.getLastModifiedTime(file).toMillis() + "+" + Files.size(file);
    boolean isFirst = read.isEmpty();
    boolean isSettled = now.equals(last);
    last = now;
    if (!isFirst && (!isSettled || now.equals(read))) return workers;
    read = now;
    workers = RecordReader.read(YamlFile.read(file), Listed.DEFAULT).workers();
    return workers;
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
