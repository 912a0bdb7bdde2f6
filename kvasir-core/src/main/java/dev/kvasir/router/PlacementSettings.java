package dev.kvasir.router;

import java.time.Duration;

/**
 * What decides between two places to prefill.
 *
 * @param interference the share of a prefill that decodes beside it lose
 * @param victimsMax as many disturbed decodes count in full; fewer count for their share
 * @param margin what another place must be better by
 * @param overloadFactor how many times the average an instance may have to do
 * @param placementsMax how many requests an instance prefills for others at a time
 * @param tokensPerSecond the seed's {@code PREFILL_THROUGHPUT}, for its own cost function
 */
public record PlacementSettings(
    double interference,
    int victimsMax,
    Duration margin,
    double overloadFactor,
    int placementsMax,
    double tokensPerSecond,
    SloTargets targets) {
  private static final double NANOS = 1e9;

  public static final PlacementSettings DEFAULT =
      new PlacementSettings(0.5, 4, Duration.ofMillis(50), 1.5, 1, 8_000, SloTargets.DEFAULT);

  public PlacementSettings {
    if (!(interference >= 0) || !(overloadFactor > 0) || !(tokensPerSecond > 0)) {
      throw new IllegalArgumentException(
          "interference %s, overload %s, %s tokens a second"
              .formatted(interference, overloadFactor, tokensPerSecond));
    }
    if (victimsMax < 1 || placementsMax < 1 || margin.isNegative()) {
      throw new IllegalArgumentException(
          "victims %d, placements %d, margin %s".formatted(victimsMax, placementsMax, margin));
    }
  }

  /** These, with another speed for the seed's cost function to assume. */
  public PlacementSettings withTokensPerSecond(double speed) {
    return new PlacementSettings(
        interference, victimsMax, margin, overloadFactor, placementsMax, speed, targets);
  }

  double marginSeconds() {
    return margin.toNanos() / NANOS;
  }

  /** The seconds of decoding lost for each second of prefill on the instance. */
  double harm(InstanceView instance) {
    return interference * Math.min(1, instance.load().decodeStreams() / (double) victimsMax);
  }
}
