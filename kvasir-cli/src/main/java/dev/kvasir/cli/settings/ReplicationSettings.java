package dev.kvasir.cli.settings;

import dev.kvasir.net.redis.RedisAccess;
import dev.kvasir.router.replica.ReplicaSettings;
import dev.kvasir.tiers.redis.RemoteSettings;
import java.time.Duration;
import java.util.List;

/**
 * Other gateways in front of the same workers, and how they communicate.
 *
 * @param server the Redis or Valkey, as HOST:PORT; empty where there is one gateway
 * @param access who we are there, and how the way to it is protected
 * @param channel on which they tell each other; gateways of one channel belong together
 * @param name of this gateway; empty for its host and port
 * @param expected how many gateways share the limits of keys until the others are known
 * @param pace how long changes are collected for one message
 * @param beat how often it sends its full state
 * @param lossTime after which a silent gateway counts as gone
 * @param address where the others ask this one, as in http://10.0.0.7:8000; empty for the address
 *     it listens at
 * @param peers gateways to ask at the start, besides those that are heard of
 * @param snapshotTime how long a gateway that starts may ask others what workers have cached
 */
public record ReplicationSettings(
    String server,
    RedisAccess access,
    String channel,
    String name,
    int expected,
    Duration pace,
    Duration beat,
    Duration lossTime,
    String address,
    List<String> peers,
    Duration snapshotTime) {
  public static final ReplicationSettings DEFAULT =
      new ReplicationSettings(
          "",
          RedisAccess.OPEN,
          "kvasir",
          "",
          1,
          ReplicaSettings.PACE,
          ReplicaSettings.BEAT,
          ReplicaSettings.LOSS_TIME,
          "",
          List.of(),
          Duration.ofSeconds(5));

  public ReplicationSettings {
    if (!channel.matches("[\\w./:-]{1,200}")) {
      throw new IllegalArgumentException(
          "channel '" + channel + "', expected letters, digits and any of . / : _ -");
    }
    if (!server.isEmpty()) {
      var _ = RemoteSettings.of(server);
    }
    peers = List.copyOf(peers);
    peers.forEach(ReplicationSettings::requireUrl);
    if (!address.isEmpty()) requireUrl(address);
    if (snapshotTime.isNegative()) {
      throw new IllegalArgumentException(
          "snapshot-time " + snapshotTime + ", expected 0s for no snapshots, or longer");
    }
    var named = name.isEmpty() ? "gateway" : name;
    var _ = new ReplicaSettings(named, 0, List.of(), expected, pace, beat, lossTime);
  }

  private static void requireUrl(String url) {
    if (url.matches("https?://[\\w.-]+(:\\d{1,5})?|https?://\\[[0-9a-fA-F:.]+\\](:\\d{1,5})?"))
      return;
    throw new IllegalArgumentException(
        "\"" + url + "\" is not the URL of a gateway; expected http://HOST:PORT");
  }

  public boolean isOn() {
    return !server.isEmpty();
  }

  /**
   * Returns whether a gateway, when it starts, asks others what workers have cached, and answers
   * such questions.
   */
  public boolean hasSnapshots() {
    return snapshotTime.isPositive() && (isOn() || !peers.isEmpty());
  }

  /** Returns the settings of the server through which the gateways communicate. */
  public RemoteSettings remote() {
    return RemoteSettings.of(server).with(access);
  }

  /**
   * Returns the settings with which this gateway takes part.
   *
   * @param usualName its name where the settings give none
   * @param epoch greater with every start
   * @param terms what must be the same in all gateways
   */
  public ReplicaSettings replicas(String usualName, long epoch, List<String> terms) {
    return new ReplicaSettings(
        name.isEmpty() ? usualName : name, epoch, terms, expected, pace, beat, lossTime);
  }
}
