package dev.kvasir.sim.report;

import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResults;
import java.time.Duration;

/**
 * Rate and share of the requests that met their targets.
 *
 * @param requestsPerSecond requests that met all targets
 * @param attainment their share of all requests
 */
public record Goodput(double requestsPerSecond, double attainment) {
  /** The latency targets of a request; zero for none. */
  public record Targets(Duration ttft, Duration itl, Duration e2e) {
    public static final Targets NONE = new Targets(Duration.ZERO, Duration.ZERO, Duration.ZERO);

    boolean areMet(RequestResults results, int number) {
      if (results.ending(number) != RequestEnding.COMPLETED) return false;
      return keeps((double) results.ttftMicros(number), ttft)
          && keeps(results.meanGapMicros(number), itl)
          && keeps((double) results.e2eMicros(number), e2e);
    }

    private static boolean keeps(double micros, Duration target) {
      return target.isZero() || micros * 1000 <= target.toNanos();
    }
  }
}
