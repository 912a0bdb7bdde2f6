package dev.kvasir.cli.settings;

import dev.kvasir.cli.config.Choices;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Estimates;

/**
 * The assumed speed of prefills, and how many a worker computes for others.
 *
 * @param throughput tokens a second that a worker is taken to prefill until it has been measured
 * @param placementsMax prompts that a worker which also decodes prefills for others at a time
 * @param dedicatedPlacementsMax the same for one that only prefills; 0 for as many as its predicted
 *     queue is worth
 * @param overloadFactor how many times the average load of workers is too much to prefill for
 *     others
 */
public record PrefillSettings(
    double throughput, int placementsMax, int dedicatedPlacementsMax, double overloadFactor) {
  public static final PrefillSettings DEFAULT =
      new PrefillSettings(
          Estimates.DEFAULT.workPerSecond(),
          PlacementSettings.DEFAULT.placementsMax(),
          PlacementSettings.DEFAULT.dedicatedPlacementsMax(),
          PlacementSettings.DEFAULT.overloadFactor());

  public PrefillSettings {
    if (!(throughput > 0) || throughput == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException(
          "throughput " + throughput + ", expected tokens a second, more than 0");
    }
    Choices.atLeast("placements-max", placementsMax, 1);
    Choices.atLeast("dedicated-placements-max", dedicatedPlacementsMax, 0);
    if (!(overloadFactor > 0) || overloadFactor == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException(
          "overload-factor " + overloadFactor + ", expected a number above 0");
    }
  }

  /** The default estimates with this initial speed. */
  public Estimates start() {
    return Estimates.DEFAULT.startingAt(throughput);
  }

  public PlacementSettings placement() {
    return PlacementSettings.DEFAULT
        .withTokensPerSecond(throughput)
        .withLimits(placementsMax, dedicatedPlacementsMax, overloadFactor);
  }
}
