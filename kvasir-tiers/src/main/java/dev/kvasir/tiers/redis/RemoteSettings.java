package dev.kvasir.tiers.redis;

import dev.kvasir.net.redis.RedisAccess;
import dev.kvasir.net.redis.RedisNode;
import dev.kvasir.tiers.shared.SharedLimits;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Settings of a remote tier: which Redis or Valkey it uses, and how.
 *
 * @param nodes where it is, as {@code host:port}; some nodes of a cluster
 * @param shape whether it is one server or a cluster
 * @param access who we are there, and how the way to it is protected
 * @param prefix what the names of our keys begin with
 * @param ttl how long a block stays after it was last stored or found to be there
 * @param limits how much is done at a time
 */
public record RemoteSettings(
    List<String> nodes,
    Shape shape,
    RedisAccess access,
    String prefix,
    Duration ttl,
    SharedLimits limits) {
  private static final Pattern PREFIX = Pattern.compile("[\\w./:-]{1,200}");
  private static final SharedLimits LIMITS_USUAL =
      new SharedLimits(4, 32, 1024, Duration.ofSeconds(2));

  /** One server, or a cluster. */
  public enum Shape {
    SINGLE,
    CLUSTER
  }

  public RemoteSettings {
    nodes = List.copyOf(nodes);
    if (nodes.isEmpty()) {
      throw new IllegalArgumentException("a remote tier without a server: name host:port");
    }
    if (shape == Shape.SINGLE && nodes.size() > 1) {
      throw new IllegalArgumentException(nodes + " are several servers: say that it is a cluster");
    }
    nodes.forEach(RedisNode::check);
    if (!PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "prefix '" + prefix + "', expected letters, digits and any of . / : _ -");
    }
    if (ttl.toMillis() < 1) throw new IllegalArgumentException("blocks stay for " + ttl);
  }

  /** The usual settings: one server without password, blocks stay for a day. */
  public static RemoteSettings of(String node) {
    return new RemoteSettings(
        List.of(node), Shape.SINGLE, RedisAccess.OPEN, "kvasir", Duration.ofDays(1), LIMITS_USUAL);
  }

  public RemoteSettings with(RedisAccess other) {
    return new RemoteSettings(nodes, shape, other, prefix, ttl, limits);
  }

  /** Returns the first server, and how it is connected to. */
  public RedisNode firstNode() {
    return new RedisNode(nodes.getFirst(), access, limits.timeout());
  }
}
