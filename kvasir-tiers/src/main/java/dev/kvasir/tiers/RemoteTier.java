package dev.kvasir.tiers;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.tiers.host.LowerStore;
import dev.kvasir.tiers.redis.RedisBlocks;
import dev.kvasir.tiers.redis.RemoteSettings;
import dev.kvasir.tiers.shared.SealSettings;
import java.nio.file.Path;
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
    EdgeSettings edge)
    implements TierConfig.Shared {
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

  @Override
  public Tier tier() {
    return Tier.REMOTE;
  }

  @Override
  public String place(@Nullable Path folder) {
    var what = server.nodes().size() == 1 ? "Redis at " : "a Redis cluster at ";
    return "known on " + what + String.join(", ", server.nodes());
  }

  @Override
  public Duration kept() {
    return server.ttl();
  }

  @Override
  public LowerStore open(Opening opening) {
    return RedisBlocks.open(opening.loop(), opening.memory(), server, opening.seals(seal));
  }
}
