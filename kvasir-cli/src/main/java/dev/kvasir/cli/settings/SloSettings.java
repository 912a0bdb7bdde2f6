package dev.kvasir.cli.settings;

import dev.kvasir.sim.report.Goodput;
import java.time.Duration;

/**
 * The latency targets for the simulator; 0 for none.
 *
 * @param ttft time to the first token
 * @param itl time between tokens
 * @param e2e time to the last token
 * @param attainment the share of requests that should keep all targets
 */
public record SloSettings(Duration ttft, Duration itl, Duration e2e, double attainment) {
  public static final SloSettings DEFAULT =
      new SloSettings(Duration.ZERO, Duration.ZERO, Duration.ZERO, 0.99);

  public SloSettings {
    if (ttft.isNegative() || itl.isNegative() || e2e.isNegative()) {
      throw new IllegalArgumentException("a target is negative");
    }
    if (!(attainment > 0 && attainment <= 1)) {
      throw new IllegalArgumentException(
          "attainment " + attainment + ", expected a share above 0 and at most 1");
    }
  }

  public Goodput.Targets targets() {
    return new Goodput.Targets(ttft, itl, e2e);
  }
}
