package dev.kvasir.tiers.s3;

import dev.kvasir.tiers.shared.SharedLimits;
import java.net.URI;
import java.time.Duration;

/**
 * Settings of an object tier: which bucket it uses, and how. Credentials come from where the AWS
 * SDK looks for them: system properties, environment, profile, the machine.
 *
 * @param place where the objects are
 * @param packBytes how many bytes of blocks an object of several gets
 * @param claimTtl how long a server that died keeps others from storing what it had begun
 * @param bound how much the bucket may hold of ours
 * @param requestsMax how many requests are under way at a time
 * @param limits how much is done at a time; a batch is a pack, or a block where those are larger
 */
public record ObjectSettings(
    ObjectPlace place,
    int packBytes,
    Duration claimTtl,
    Bound bound,
    int requestsMax,
    SharedLimits limits) {
  /**
   * Limits on our objects in a bucket: older ones are removed, and beyond the size the oldest.
   *
   * @param age how long an object stays at most
   * @param bytes how many bytes all objects have at most, between two sweeps
   * @param sweepInterval how often each server looks
   */
  public record Bound(Duration age, long bytes, Duration sweepInterval) {
    public Bound {
      if (!age.isPositive()) throw new IllegalArgumentException("objects stay for " + age);
      if (bytes < 1) throw new IllegalArgumentException("a bucket of " + bytes + " bytes");
      if (!sweepInterval.isPositive()) {
        throw new IllegalArgumentException("a sweep every " + sweepInterval);
      }
    }
  }

  /** Measured: beyond it nothing is gained, see docs/shared-tiers.md. */
  static final int PACK_BYTES_USUAL = 8 << 20;

  private static final int PACK_BYTES_MAX = 64 << 20;
  private static final int REQUESTS_MAX = 256;
  private static final int PACK_BLOCKS_MAX = 256;
  private static final long BYTES_USUAL = 100L << 30;
  private static final SharedLimits LIMITS_USUAL =
      new SharedLimits(16, PACK_BLOCKS_MAX, 1024, Duration.ofSeconds(10));

  public ObjectSettings {
    if (packBytes < 1 || packBytes > PACK_BYTES_MAX) {
      throw new IllegalArgumentException(
          "packs of " + packBytes + " bytes, expected 1 to " + PACK_BYTES_MAX);
    }
    if (requestsMax < 1 || requestsMax > REQUESTS_MAX) {
      throw new IllegalArgumentException(
          requestsMax + " requests at a time, expected 1 to " + REQUESTS_MAX);
    }
    // Whoever holds a claim has given up before it can be taken over, so none is sent twice.
    // Multiplying a time would load the arithmetic of decimals, in each start.
    if (claimTtl.compareTo(limits.timeout().plus(limits.timeout())) < 0) {
      throw new IllegalArgumentException(
          "claims end after "
              + claimTtl
              + ", expected at least twice the timeout of "
              + limits.timeout());
    }
  }

  /** The usual settings for a bucket on a server of one's own, or that of AWS if it is null. */
  public static ObjectSettings of(URI endpoint, String bucket) {
    return new ObjectSettings(
        new ObjectPlace(endpoint, "us-east-1", bucket, "kvasir"),
        PACK_BYTES_USUAL,
        Duration.ofSeconds(60),
        new Bound(Duration.ofDays(7), BYTES_USUAL, Duration.ofMinutes(10)),
        16,
        LIMITS_USUAL);
  }

  /** The same with claims that end after that time, and requests in half of it. */
  public ObjectSettings withClaimTtl(Duration ttl) {
    var shorter = limits.withTimeout(ttl.dividedBy(2));
    return new ObjectSettings(place, packBytes, ttl, bound, requestsMax, shorter);
  }

  /** Returns how many blocks of that size go into one object. */
  int packBlocks(int blockBytes) {
    return Math.clamp(packBytes / blockBytes, 1, PACK_BLOCKS_MAX);
  }
}
