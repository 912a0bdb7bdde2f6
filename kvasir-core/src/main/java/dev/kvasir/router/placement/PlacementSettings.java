package dev.kvasir.router.placement;

import dev.kvasir.Records;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.SloTargets;
import java.time.Duration;

/**
 * The settings for the choice between two places to prefill.
 *
 * @param interference the share of a prefill's time that decodes on the same instance lose
 * @param victimsMax as many disturbed decodes count as one second each second, fewer for their
 *     share; on an instance that only decodes each of them does
 * @param margin how much better another place must be
 * @param sharedMargin how much better another place must be in addition if it decodes too, as a
 *     share of the time until the first token at home: a whole request moves there without a
 *     hand-over, and the prediction errs by about as much
 * @param overloadFactor how many times the average load an instance may have
 * @param placementsMax how many requests an instance that also decodes prefills for others at a
 *     time
 * @param dedicatedPlacementsMax the same for one that only prefills; 0 for as many as its predicted
 *     queue is worth
 * @param tokensPerSecond the {@code PREFILL_THROUGHPUT} of half-cost
 */
public record PlacementSettings(
    double interference,
    int victimsMax,
    Duration margin,
    double sharedMargin,
    double overloadFactor,
    int placementsMax,
    int dedicatedPlacementsMax,
    double tokensPerSecond,
    SloTargets targets) {
  private static final double NANOS = 1e9;

  public static final PlacementSettings DEFAULT =
      new PlacementSettings(
          0.5, 4, Duration.ofMillis(50), 0.42, 1.5, 1, 0, 8_000, SloTargets.DEFAULT);

  public PlacementSettings {
    if (!(interference >= 0) || !(overloadFactor > 0) || !(tokensPerSecond > 0)) {
      throw new IllegalArgumentException(
          "interference %s, overload %s, %s tokens a second"
              .formatted(interference, overloadFactor, tokensPerSecond));
    }
    if (victimsMax < 1 || margin.isNegative() || !(sharedMargin >= 0)) {
      throw new IllegalArgumentException(
          "victims " + victimsMax + ", margin " + margin + ", shared margin " + sharedMargin);
    }
    if (placementsMax < 1 || dedicatedPlacementsMax < 0) {
      throw new IllegalArgumentException(
          "placements-max %d, expected 1 or more; dedicated-placements-max %d, expected 0 or more"
              .formatted(placementsMax, dedicatedPlacementsMax));
    }
  }

  /** These, with another speed for half-cost to assume. */
  public PlacementSettings withTokensPerSecond(double speed) {
    return Records.with(this, "tokensPerSecond", speed);
  }

  /** These, with other limits on how much an instance prefills for others. */
  public PlacementSettings withLimits(int shared, int dedicated, double overload) {
    return Records.with(
        this,
        "overloadFactor",
        overload,
        "placementsMax",
        shared,
        "dedicatedPlacementsMax",
        dedicated);
  }

  /** These, with other things that decide between two places. */
  public PlacementSettings withMargins(
      double lost, int victims, Duration least, double sharedLeast) {
    return new PlacementSettings(
        lost,
        victims,
        least,
        sharedLeast,
        overloadFactor,
        placementsMax,
        dedicatedPlacementsMax,
        tokensPerSecond,
        targets);
  }

  /** These, with other times at which tokens are due. */
  public PlacementSettings with(SloTargets others) {
    return new PlacementSettings(
        interference,
        victimsMax,
        margin,
        sharedMargin,
        overloadFactor,
        placementsMax,
        dedicatedPlacementsMax,
        tokensPerSecond,
        others);
  }

  /** Returns whether the instance may prefill for one more. */
  boolean hasRoom(InstanceView instance) {
    int most = instance.role() == Role.PREFILL ? dedicatedPlacementsMax : placementsMax;
    return most == 0 || instance.load().placements() < most;
  }

  /** Returns by how much it must be better to prefill there than where the request decodes. */
  double marginSeconds(InstanceView prefill, Prediction predicted) {
    boolean isShared = prefill.role() != Role.PREFILL;
    return marginSeconds() + (isShared ? sharedMargin * predicted.colocateSeconds() : 0);
  }

  double marginSeconds() {
    return margin.toNanos() / NANOS;
  }

  /**
   * The seconds of decoding lost for each second of prefill on the instance.
   *
   * <p>An instance that only decodes is there for its streams: there each of them counts, however
   * many they are.
   */
  double harm(InstanceView instance) {
    int streams = instance.load().decodeStreams();
    if (instance.role() == Role.DECODE) return interference * streams;
    return interference * Math.min(1, streams / (double) victimsMax);
  }
}
