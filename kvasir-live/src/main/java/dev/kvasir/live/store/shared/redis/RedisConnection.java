package dev.kvasir.live.store.shared.redis;

import static dev.kvasir.live.store.shared.redis.RemoteSettings.host;
import static dev.kvasir.live.store.shared.redis.RemoteSettings.port;

import dev.kvasir.live.store.shared.redis.RemoteAccess.Tls;
import java.time.Duration;
import java.util.LinkedHashSet;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;

/** Makes a client of Redis from settings. */
final class RedisConnection {
  /** Time within which a slot that has moved to another node of a cluster is found again. */
  private static final Duration TOPOLOGY_REFRESH = Duration.ofSeconds(5);

  private RedisConnection() {}

  static UnifiedJedis open(RemoteSettings settings, int sealedBytes) {
    return switch (settings.shape()) {
      case SINGLE -> single(settings, sealedBytes);
      case CLUSTER -> cluster(settings);
    };
  }

  private static UnifiedJedis single(RemoteSettings settings, int sealedBytes) {
    var first = settings.nodes().getFirst();
    var node = new HostAndPort(host(first), port(first));
    var client = client(settings);
    var connections =
        ConnectionFactory.builder()
            .hostAndPort(node)
            .clientConfig(client)
            .connectionBuilder(new BlockConnection.Maker(node, client, sealedBytes))
            .build();
    return RedisClient.builder()
        .clientConfig(client)
        .connectionProvider(new PooledConnectionProvider(connections, pool(settings)))
        .build();
  }

  private static UnifiedJedis cluster(RemoteSettings settings) {
    var nodes = new LinkedHashSet<HostAndPort>();
    for (var node : settings.nodes()) nodes.add(new HostAndPort(host(node), port(node)));
    return RedisClusterClient.builder()
        .nodes(nodes)
        .clientConfig(client(settings))
        .poolConfig(pool(settings))
        .maxAttempts(1)
        .topologyRefreshPeriod(TOPOLOGY_REFRESH)
        .build();
  }

  private static JedisClientConfig client(RemoteSettings settings) {
    return builder(settings).build();
  }

  /** For a connection that listens, whose client knows only the older protocol. */
  static JedisClientConfig listening(RemoteSettings settings) {
    return builder(settings).autoNegotiateProtocol(false).build();
  }

  private static DefaultJedisClientConfig.Builder builder(RemoteSettings settings) {
    var access = settings.access();
    int millis = (int) Math.min(Integer.MAX_VALUE, settings.limits().timeout().toMillis());
    var config = DefaultJedisClientConfig.builder().timeoutMillis(Math.max(1, millis));
    if (access.user() != null) config.user(access.user());
    if (access.password() != null) config.password(access.password().reveal());
    if (access.tls() == Tls.ON) config.sslOptions(tls(access));
    return config;
  }

  private static SslOptions tls(RemoteAccess access) {
    var options = SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL);
    if (access.trust() != null) {
      var secret = access.trustPassword();
      char[] password = secret == null ? new char[0] : secret.reveal().toCharArray();
      options.truststore(access.trust().toFile(), password).trustStoreType("PKCS12");
    }
    return options.build();
  }

  /** As many connections as batches, and those who only look. */
  private static ConnectionPoolConfig pool(RemoteSettings settings) {
    var pool = new ConnectionPoolConfig();
    int connections = settings.limits().threads() + 2;
    pool.setMaxTotal(connections);
    pool.setMaxIdle(connections);
    pool.setBlockWhenExhausted(true);
    pool.setMaxWait(settings.limits().timeout());
    pool.setJmxEnabled(false);
    return pool;
  }
}
