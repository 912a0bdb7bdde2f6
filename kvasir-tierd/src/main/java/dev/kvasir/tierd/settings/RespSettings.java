package dev.kvasir.tierd.settings;

import dev.kvasir.Nullable;
import dev.kvasir.net.Secret;
import java.nio.file.Path;

/**
 * The Redis protocol on the tiers.
 *
 * @param socket a Unix socket for the user of the daemon; null for none
 * @param port of TCP, with a password; 0 for any that is free, -1 for none
 * @param password what clients of TCP say; those of the Unix socket need none
 * @param blockBytes values are kept in blocks of that size, the last of each in part
 * @param valueBytesMax longer values are refused
 */
public record RespSettings(
    @Nullable Path socket,
    String host,
    int port,
    @Nullable Secret password,
    int blockBytes,
    long valueBytesMax) {
  public static final RespSettings DEFAULT =
      new RespSettings(null, "127.0.0.1", -1, null, 256 << 10, 64L << 20);

  private static final int BLOCK_BYTES_MIN = 4_096;
  private static final int PORT_MAX = 65_535;

  public RespSettings {
    if (port < -1 || port > PORT_MAX) throw new IllegalArgumentException("port " + port);
    if (port >= 0 && password == null) {
      throw new IllegalArgumentException(
          "the Redis protocol over TCP needs a password: set resp.password, or use resp.socket");
    }
    if (blockBytes < BLOCK_BYTES_MIN) {
      throw new IllegalArgumentException(
          "blocks of " + blockBytes + " bytes, expected " + BLOCK_BYTES_MIN + " or more");
    }
    if (valueBytesMax < 1) throw new IllegalArgumentException("values of " + valueBytesMax);
  }
}
