package dev.kvasir.tiers.redis;

import dev.kvasir.net.redis.RedisNode;
import java.time.Duration;
import java.util.LinkedHashSet;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
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
    var node = RedisNode.address(settings.nodes().getFirst());
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
    for (var node : settings.nodes()) nodes.add(RedisNode.address(node));
    return RedisClusterClient.builder()
        .nodes(nodes)
        .clientConfig(client(settings))
        .poolConfig(pool(settings))
        .maxAttempts(1)
        .topologyRefreshPeriod(TOPOLOGY_REFRESH)
        .build();
  }

  private static JedisClientConfig client(RemoteSettings settings) {
    return RedisNode.config(settings.access(), settings.limits().timeout());
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
