package dev.kvasir.live.engine.tier;

import dev.kvasir.live.store.shared.SealSettings;
import dev.kvasir.live.store.shared.redis.RemoteSettings;
import java.time.Duration;

/**
 * A Redis or Valkey that engines share with those of other processes.
 *
 * @param blocks how many this process believes to be there at most
 * @param server which one, and how it is used
 * @param seal how blocks are protected there
 * @param lookTime how long a prompt waits to hear what others have stored; 0 for not asking
 * @param guard when it is left alone
 * @param edge how blocks come there from the tier above
 */
public record RemoteTier(
    int blocks,
    RemoteSettings server,
    SealSettings seal,
    Duration lookTime,
    GuardSettings guard,
    EdgeSettings edge) {
  public static final RemoteTier DEFAULT =
      new RemoteTier(
          65_536,
          RemoteSettings.of("127.0.0.1:6379"),
          SealSettings.CHECKSUM,
          Duration.ofMillis(50),
          GuardSettings.DEFAULT,
          EdgeSettings.DEFAULT);

  public RemoteTier {
    if (blocks < 1) throw new IllegalArgumentException("a remote tier of " + blocks + " blocks");
    if (lookTime.isNegative()) throw new IllegalArgumentException("a wait of " + lookTime);
  }

  public RemoteTier at(RemoteSettings other) {
    return new RemoteTier(blocks, other, seal, lookTime, guard, edge);
  }

  /** The same, but that blocks come there in another way. */
  public RemoteTier with(EdgeSettings other) {
    return new RemoteTier(blocks, server, seal, lookTime, guard, other);
  }
}
