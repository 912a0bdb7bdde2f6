package dev.kvasir.router.worker;

import java.time.Duration;

/**
 * When a worker is taken out for its failures, and for how long.
 *
 * @param failuresMax as many failures in a row take a worker out
 * @param restTime for at least this long
 * @param readyShareMin as long as at least this share of the workers stays, 0 to 1; what probes say
 *     is not bound by it
 */
public record EjectionRules(int failuresMax, Duration restTime, double readyShareMin) {
  public static final EjectionRules DEFAULT = new EjectionRules(5, Duration.ofSeconds(5), 0.5);

  public EjectionRules {
    if (failuresMax < 1 || !restTime.isPositive()) {
      throw new IllegalArgumentException(failuresMax + " failures, rest of " + restTime);
    }
    if (!(readyShareMin >= 0 && readyShareMin <= 1)) {
      throw new IllegalArgumentException(
          "ready-share-min " + readyShareMin + ", expected a share from 0 to 1");
    }
  }
}
