package dev.kvasir.tierd.protocol;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Unix sockets to listen on. */
public final class UnixSocket {
  private UnixSocket() {}

  /**
   * Begins to listen; a socket on which nobody listens any more is replaced.
   *
   * @param mode who may connect, as {@code rw-------}
   */
  public static ServerSocketChannel listen(Path path, String mode) throws IOException {
    removeStale(path);
    var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      server.bind(UnixDomainSocketAddress.of(path));
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
      return server;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw new IOException(path + ": cannot listen there: " + e.getMessage(), e);
    }
  }

  private static void removeStale(Path path) throws IOException {
    if (!Files.exists(path)) return;
    try (var probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.connect(UnixDomainSocketAddress.of(path));
    } catch (IOException e) {
      Files.delete(path);
      return;
    }
    throw new IOException(path + ": another daemon listens there; stop it, or name another socket");
  }
}
