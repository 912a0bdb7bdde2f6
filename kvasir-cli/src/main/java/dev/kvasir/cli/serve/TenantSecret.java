package dev.kvasir.cli.serve;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.net.PrivateFiles;
import dev.kvasir.net.Secret;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The secret from which the salts of tenants are derived. It is kept between starts: with another
 * secret, no block from before is found.
 */
final class TenantSecret {
  private static final System.Logger LOG = System.getLogger(TenantSecret.class.getName());
  private static final String FILE = "tenant-secret";
  private static final int BYTES = 32;

  private TenantSecret() {}

  static Path file(Path folder) {
    return folder.resolve(FILE);
  }

  /**
   * The secret in the folder; creates it if there is none. Throws an {@link
   * IllegalArgumentException} if others could have read or written it.
   */
  static NameKey in(Path folder) {
    var file = file(folder);
    try {
      if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) make(folder, file);
      PrivateFiles.require(file);
      return NameKey.of(Secret.fromFile(file).reveal());
    } catch (IOException | UnsupportedOperationException e) {
      LOG.log(WARNING, "no secret can be kept, so tenants find nothing after a restart: " + e);
      return NameKey.random();
    }
  }

  /** Creates the file atomically; if two processes do so, the first wins. */
  private static void make(Path folder, Path file) throws IOException {
    PrivateFiles.folder(folder);
    var begun = Files.createTempFile(folder, FILE, "", PrivateFiles.file(folder));
    try {
      var bytes = new byte[BYTES];
      new SecureRandom().nextBytes(bytes);
      Files.writeString(begun, HexFormat.of().formatHex(bytes) + "\n");
      Files.createLink(file, begun);
    } catch (FileAlreadyExistsException e) {
      LOG.log(System.Logger.Level.DEBUG, "{0} was just made by another one", file);
    } finally {
      Files.delete(begun);
    }
  }
}
