package dev.kvasir.tierd.cache;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Comparator.comparing;

import dev.kvasir.Nullable;
import dev.kvasir.net.PrivateFiles;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tiers.disk.RealFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Files of one namespace on disk: one with its text, one with what was measured, and a folder with
 * the blocks.
 *
 * @param path named by the namespace's digest
 */
public record TierFolder(Path path) {
  private static final Pattern ID = Pattern.compile("[0-9a-f]{16}");
  private static final String TEXT = "namespace";
  private static final String BLOCKS = "kv";
  private static final String COSTS = "costs";
  private static final String TENANTS = "tenants";

  public static TierFolder of(Path folder, Namespace namespace) {
    return new TierFolder(folder.resolve(namespace.id()));
  }

  /** All that lie in the folder, the one that was opened longest ago first. */
  public static List<TierFolder> in(Path folder) throws IOException {
    var found = new ArrayList<TierFolder>();
    if (!Files.isDirectory(folder)) return found;
    try (var names = Files.list(folder)) {
      for (var path : names.sorted().toList()) {
        var each = new TierFolder(path);
        boolean ours = ID.matcher(each.id()).matches();
        if (ours && Files.isRegularFile(path.resolve(TEXT))) found.add(each);
      }
    }
    found.sort(comparing(TierFolder::used).thenComparing(TierFolder::id));
    return found;
  }

  public String id() {
    return path.getFileName().toString();
  }

  /** When it was opened last. */
  public Instant used() {
    try {
      return Files.getLastModifiedTime(path.resolve(TEXT)).toInstant();
    } catch (IOException e) {
      return Instant.EPOCH;
    }
  }

  /** Returns the namespace whose blocks these are; null where the file cannot be read. */
  public @Nullable Namespace namespace() throws IOException {
    try {
      return Namespace.parse(Files.readString(path.resolve(TEXT)));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Returns the folder of the blocks. */
  public Path blocks() {
    return path.resolve(BLOCKS);
  }

  /** Returns how many bytes its files take on disk. */
  public long bytes() throws IOException {
    long bytes = 0;
    try (var files = Files.walk(path)) {
      for (var file : files.toList()) if (Files.isRegularFile(file)) bytes += Files.size(file);
    }
    return bytes;
  }

  /** Makes it where it is not there, and notes that it is used now. */
  public Path create(Namespace namespace) throws IOException {
    PrivateFiles.folder(path);
    var text = path.resolve(TEXT);
    if (!Files.exists(text)) {
      var half = path.resolve(TEXT + ".new");
      Files.writeString(half, namespace.text(), UTF_8);
      Files.move(half, text, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    }
    Files.setLastModifiedTime(text, FileTime.from(Instant.now()));
    return PrivateFiles.folder(blocks());
  }

  /** Returns what was measured of the tiers before; empty for nothing. */
  public String costs() throws IOException {
    var file = path.resolve(COSTS);
    return Files.isRegularFile(file) ? Files.readString(file, UTF_8) : "";
  }

  /** Returns the file that notes whose chunks they are. */
  public Path tenants() {
    return path.resolve(TENANTS);
  }

  public void saveCosts(String text) throws IOException {
    var half = path.resolve(COSTS + ".new");
    Files.writeString(half, text, UTF_8);
    Files.move(half, path.resolve(COSTS), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
  }

  /** Deletes all of it; throws if another process uses it, or has put its own files there. */
  public void delete() throws IOException {
    try (var _ = RealFolder.open(blocks());
        var files = Files.walk(path)) {
      for (var file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
