package dev.kvasir.net;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Files and folders that only their owner may read and write. */
public final class PrivateFiles {
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> FOLDER =
      PosixFilePermissions.fromString("rwx------");

  private PrivateFiles() {}

  /** Returns the attributes of a new file; none where the file system has no owners. */
  public static FileAttribute<?>[] file(Path path) {
    return attributes(path, FILE);
  }

  /** Makes the folder and those above it where they are not there. */
  public static Path folder(Path path) throws IOException {
    return Files.createDirectories(path, attributes(path, FOLDER));
  }

  private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> mode) {
    boolean posix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
    return posix
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(mode)}
        : new FileAttribute<?>[0];
  }

  /**
   * Throws an {@link IllegalArgumentException} unless it is a file that only we can have written
   * and only we can read: no link, not of another user, closed to all others.
   */
  public static void require(Path path) throws IOException {
    if (!Files.isRegularFile(path, NOFOLLOW_LINKS)) {
      throw new IllegalArgumentException(
          path + " is a link or no file: remove it, or put the file itself there");
    }
    if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) return;
    var owner = Files.getAttribute(path, "unix:uid", NOFOLLOW_LINKS);
    var self = Files.getAttribute(ourOwn(), "unix:uid");
    if (!owner.equals(self)) {
      throw new IllegalArgumentException(
          "%s belongs to user %s, and this is user %s: remove it, or run as its owner"
              .formatted(path, owner, self));
    }
    var mode = Files.getPosixFilePermissions(path, NOFOLLOW_LINKS);
    if (!FILE.containsAll(mode)) {
      throw new IllegalArgumentException(
          "%s is open to others (%s): run chmod 600 on it, or remove it if somebody wrote to it"
              .formatted(path, PosixFilePermissions.toString(mode)));
    }
  }

  /** Something that surely belongs to the user of this process. */
  public static Path ourOwn() {
    var self = Path.of("/proc/self");
    return Files.exists(self) ? self : Path.of(System.getProperty("user.home"));
  }
}
