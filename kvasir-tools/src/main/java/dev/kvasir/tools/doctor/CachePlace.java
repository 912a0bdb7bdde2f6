package dev.kvasir.tools.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

/**
 * The planned cache folder, and the nearest folder above it that exists, or itself. The probes must
 * not create the folder, so they use the nearest one.
 */
record CachePlace(Path wanted, Path nearest, String fileSystem) {
  private static final List<String> MEMORY = List.of("tmpfs", "ramfs");
  private static final List<String> REMOTE = List.of("nfs", "cifs", "smb", "9p", "ceph", "fuse.s");

  static CachePlace of(Path wanted) {
    Path whole = wanted.toAbsolutePath().normalize();
    Path nearest = whole;
    while (!Files.exists(nearest, LinkOption.NOFOLLOW_LINKS) && nearest.getParent() != null) {
      nearest = nearest.getParent();
    }
    return new CachePlace(whole, nearest, fileSystem(nearest));
  }

  boolean exists() {
    return wanted.equals(nearest);
  }

  boolean inMemory() {
    return MEMORY.contains(fileSystem);
  }

  boolean remote() {
    return REMOTE.stream().anyMatch(fileSystem::startsWith);
  }

  private static String fileSystem(Path nearest) {
    try {
      return Files.getFileStore(nearest).type();
    } catch (IOException unreadable) {
      return "an unknown file system";
    }
  }
}
