package dev.kvasir.model;

import static java.util.Objects.requireNonNull;

import dev.kvasir.kv.name.Sha256;
import dev.kvasir.model.gguf.ModelFileException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The model that ships with Kvasir: a pocket dictionary with seven million weights.
 *
 * <p>A file inside a jar cannot be mapped, so it is copied to the cache folder once. The name of
 * the copy contains its checksum and its content is checked each time, so a damaged copy is
 * replaced and never used.
 */
public final class BuiltInModel {
  /** Its name where a model is asked for by name. */
  public static final String NAME = "kvasir-pocket-7m";

  private static final String RESOURCE = NAME + "-f16.gguf";
  private static final String SHA256 =
      "9bfa9c9fb744d3b0cc1857cf0d30fe0fdb884e9981f85e13d33d54fcabb81c47";
  private static final int BYTES = 14_042_464;
  private static final int CHECKSUM_SHOWN = 12;

  private BuiltInModel() {}

  /** The file of the model, in this cache folder; copied there where it is missing or damaged. */
  public static Path file(Path cacheFolder) throws ModelFileException {
    var name = NAME + "-" + SHA256.substring(0, CHECKSUM_SHOWN) + ".gguf";
    var file = cacheFolder.resolve("models").resolve(name);
    try {
      if (!isWhole(file)) copy(file);
      return file;
    } catch (IOException failure) {
      throw new ModelFileException(
          file,
          "the built-in model cannot be put there (" + failure + ")",
          "make the folder writable, or set XDG_CACHE_HOME to one that is");
    }
  }

  private static boolean isWhole(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) != BYTES) {
      return false;
    }
    return Sha256.hex(Files.readAllBytes(file)).equals(SHA256);
  }

  /** Written beside it and moved in one step, so that nobody meets half a file. */
  private static void copy(Path file) throws IOException {
    var bytes = resource();
    if (!Sha256.hex(bytes).equals(SHA256)) {
      throw new IOException("this copy of Kvasir is damaged: " + RESOURCE + " has changed");
    }
    var folder = folder(requireNonNull(file.toAbsolutePath().getParent()));
    var part = Files.createTempFile(folder, NAME, ".part");
    try {
      Files.write(part, bytes);
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /** A folder for its owner alone, where the file system knows owners. */
  private static Path folder(Path path) throws IOException {
    if (!path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return Files.createDirectories(path);
    }
    var mode = PosixFilePermissions.fromString("rwx------");
    return Files.createDirectories(path, PosixFilePermissions.asFileAttribute(mode));
  }

  private static byte[] resource() throws IOException {
    try (InputStream in = BuiltInModel.class.getResourceAsStream(RESOURCE)) {
      if (in == null) throw new IOException("this copy of Kvasir has no " + RESOURCE);
      return in.readNBytes(BYTES);
    }
  }
}
