package dev.kvasir.tiers;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.tiers.host.LowerStore;
import dev.kvasir.tiers.s3.ObjectBlocks;
import dev.kvasir.tiers.s3.ObjectSettings;
import dev.kvasir.tiers.shared.SealSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A bucket behind the S3 API that engines share with those of other processes.
 *
 * @param blocks how many this process believes to be there at most
 * @param server which one, and how it is used
 * @param seal how blocks are protected there
 * @param lookTime how long a prompt waits to hear what others have stored; 0 for not asking
 * @param guard when it is left alone
 * @param edge how blocks come there from the tier above
 */
public record ObjectTier(
    int blocks,
    ObjectSettings server,
    SealSettings seal,
    Duration lookTime,
    GuardSettings guard,
    EdgeSettings edge)
    implements TierConfig.Shared {
  public static final ObjectTier DEFAULT =
      new ObjectTier(
          262_144,
          ObjectSettings.of(URI.create("http://127.0.0.1:9000"), "kvasir"),
          SealSettings.CHECKSUM,
          Duration.ofMillis(300),
          new GuardSettings(5, Duration.ofSeconds(5), Duration.ofSeconds(10)),
          EdgeSettings.DEFAULT);

  public ObjectTier {
    if (blocks < 1) throw new IllegalArgumentException("an object tier of " + blocks + " blocks");
    if (lookTime.isNegative()) throw new IllegalArgumentException("a wait of " + lookTime);
  }

  public ObjectTier at(ObjectSettings other) {
    return new ObjectTier(blocks, other, seal, lookTime, guard, edge);
  }

  @Override
  public Tier tier() {
    return Tier.OBJECT;
  }

  @Override
  public String place(@Nullable Path folder) {
    var place = server.place();
    var where = place.endpoint() == null ? "AWS in " + place.region() : place.endpoint().toString();
    return "known in bucket " + place.bucket() + " at " + where;
  }

  @Override
  public Duration kept() {
    return server.bound().age();
  }

  @Override
  public LowerStore open(Opening opening) {
    return ObjectBlocks.open(opening.loop(), opening.memory(), server, opening.seals(seal));
  }
}
