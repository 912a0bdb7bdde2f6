package dev.kvasir.net.redis;

import dev.kvasir.Nullable;
import dev.kvasir.net.Secret;
import java.nio.file.Path;

/**
 * Credentials for a Redis, and the protection of the connection to it.
 *
 * @param user null for the server's default user
 * @param password null if it asks for none
 * @param tls whether the way is encrypted
 * @param trust a file of type PKCS12 with the certificates to trust; null for those the JDK trusts
 * @param trustPassword what the file is locked with; null if it is not
 */
public record RedisAccess(
    @Nullable String user,
    @Nullable Secret password,
    Tls tls,
    @Nullable Path trust,
    @Nullable Secret trustPassword) {

  /** Choice of whether the connection is encrypted. */
  public enum Tls {
    OFF,
    ON
  }

  public static final RedisAccess OPEN = new RedisAccess(null, null, Tls.OFF, null, null);

  public RedisAccess {
    if (user != null && password == null) {
      throw new IllegalArgumentException("user " + user + " without a password");
    }
    if (trust != null && tls == Tls.OFF) {
      throw new IllegalArgumentException(trust + " is set as trusted, but TLS is off; turn TLS on");
    }
    if (trustPassword != null && trust == null) {
      throw new IllegalArgumentException("a password for a trust file that is not named");
    }
  }
}
