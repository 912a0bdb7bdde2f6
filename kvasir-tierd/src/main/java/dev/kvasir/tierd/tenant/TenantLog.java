package dev.kvasir.tierd.tenant;

import static java.lang.System.Logger.Level.WARNING;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.kv.name.BlockHash;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A file with a line for each chunk of a tenant: the tenant and the chunk's name, as digits. It is
 * only added to, by a thread of its own, and written anew when it is opened.
 */
public final class TenantLog implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(TenantLog.class.getName());
  private static final int NAME_DIGITS = 64;

  private final Path file;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("kvasir-tier-tenants").factory());

  /** A chunk and whose it is. */
  public record Line(String tenant, BlockHash name) {
    private String text() {
      return tenant + " " + HexFormat.of().formatHex(name.bytes()) + "\n";
    }
  }

  public TenantLog(Path file) {
    this.file = file;
  }

  /** Reads the lines of the file; malformed ones, such as the last one of a crash, are left out. */
  public List<Line> read() throws IOException {
    var lines = new ArrayList<Line>();
    if (!Files.isRegularFile(file)) return lines;
    for (var text : Files.readString(file, UTF_8).split("\n", -1)) {
      int space = text.indexOf(' ');
      if (space < 1 || text.length() - space - 1 != NAME_DIGITS) continue;
      try {
        var name = BlockHash.of(HexFormat.of().parseHex(text.substring(space + 1)));
        lines.add(new Line(text.substring(0, space), name));
      } catch (IllegalArgumentException e) {
        LOG.log(WARNING, "{0}: a line is not read: {1}", file, e.getMessage());
      }
    }
    return lines;
  }

  /** Replaces the file by these lines, in one step. */
  void rewrite(List<Line> lines) {
    var text = text(lines);
    later(
        () -> {
          var half = file.resolveSibling(file.getFileName() + ".new");
          Files.writeString(half, text, UTF_8);
          Files.move(half, file, StandardCopyOption.ATOMIC_MOVE);
        });
  }

  void add(List<Line> lines) {
    var text = text(lines);
    later(
        () ->
            Files.writeString(
                file, text, UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
  }

  private static String text(List<Line> lines) {
    var text = new StringBuilder();
    for (var line : lines) text.append(line.text());
    return text.toString();
  }

  /** Something that is done to the file. */
  private interface Write {
    void run() throws IOException;
  }

  private void later(Write write) {
    writer.execute(
        () -> {
          try {
            write.run();
          } catch (IOException e) {
            LOG.log(WARNING, "{0} cannot be written: {1}", file, e.getMessage());
          }
        });
  }

  /** Writes what waits. */
  @Override
  public void close() {
    writer.close();
  }
}
