package dev.kvasir.net.redis;

import dev.kvasir.net.redis.RedisAccess.Tls;
import java.time.Duration;
import java.util.regex.Pattern;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/**
 * One server of Redis or Valkey, and how it is connected to.
 *
 * @param node {@code host:port}
 * @param timeout longest wait for a connection or an answer
 */
public record RedisNode(String node, RedisAccess access, Duration timeout) {
  private static final Pattern NODE = Pattern.compile("([\\w.-]+|\\[[0-9a-fA-F:]+]):(\\d{1,5})");
  private static final int PORT_MAX = 65_535;

  public RedisNode {
    check(node);
  }

  /** Throws {@link IllegalArgumentException} where this is not {@code host:port}. */
  public static void check(String node) {
    if (!NODE.matcher(node).matches() || port(node) < 1 || port(node) > PORT_MAX) {
      throw new IllegalArgumentException("'" + node + "' is not a server, expected host:port");
    }
  }

  public static HostAndPort address(String node) {
    return new HostAndPort(node.substring(0, node.lastIndexOf(':')), port(node));
  }

  private static int port(String node) {
    return Integer.parseInt(node.substring(node.lastIndexOf(':') + 1));
  }

  public static JedisClientConfig config(RedisAccess access, Duration timeout) {
    return builder(access, timeout).build();
  }

  HostAndPort address() {
    return address(node);
  }

  /** Returns the configuration of a connection that listens; its client has only RESP 2. */
  JedisClientConfig listening() {
    return builder(access, timeout).autoNegotiateProtocol(false).build();
  }

  private static DefaultJedisClientConfig.Builder builder(RedisAccess access, Duration timeout) {
    int millis = (int) Math.min(Integer.MAX_VALUE, timeout.toMillis());
    var config = DefaultJedisClientConfig.builder().timeoutMillis(Math.max(1, millis));
    if (access.user() != null) config.user(access.user());
    if (access.password() != null) config.password(access.password().reveal());
    if (access.tls() == Tls.ON) config.sslOptions(tls(access));
    return config;
  }

  private static SslOptions tls(RedisAccess access) {
    var options = SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL);
    if (access.trust() != null) {
      var secret = access.trustPassword();
      char[] password = secret == null ? new char[0] : secret.reveal().toCharArray();
      options.truststore(access.trust().toFile(), password).trustStoreType("PKCS12");
    }
    return options.build();
  }
}
