package dev.kvasir.gateway.worker;

import dev.kvasir.router.flow.RetryRules;
import dev.kvasir.router.flow.RetryRules.Split;
import dev.kvasir.router.worker.EjectionRules;
import java.time.Duration;

/**
 * Rules for what a gateway does when workers fail.
 *
 * @param attemptsMax number of workers that are tried for a request of which no byte has been
 *     answered
 * @param split treatment of a split request that its two workers cannot finish together
 * @param connectTime time until a worker takes a connection
 * @param firstTime time until the head of an answer, the prefill included, and once more until the
 *     first event of a stream, whose head may come before its prefill, or all of another answer
 * @param silenceTime time between bytes of an answer, once it has begun
 * @param handoverTime time for which a worker keeps what it prefilled for another
 * @param failuresMax number of failures in a row that take a worker out
 * @param restTime least time for which it is out
 * @param readyShareMin least share of the workers, 0 to 1, that must stay for one to be taken out;
 *     what probes say is not bound by it
 */
public record FailureRules(
    int attemptsMax,
    Split split,
    Duration connectTime,
    Duration firstTime,
    Duration silenceTime,
    Duration handoverTime,
    int failuresMax,
    Duration restTime,
    double readyShareMin) {
  public static final FailureRules DEFAULT =
      new FailureRules(
          3,
          Split.FALL_BACK,
          Duration.ofSeconds(2),
          Duration.ofMinutes(10),
          Duration.ofMinutes(1),
          Duration.ofSeconds(25),
          5,
          Duration.ofSeconds(5),
          0.5);

  public FailureRules {
    if (attemptsMax < 1 || failuresMax < 1) {
      throw new IllegalArgumentException(attemptsMax + " attempts, " + failuresMax + " failures");
    }
    var times = new Duration[] {connectTime, firstTime, silenceTime, handoverTime, restTime};
    for (var time : times) {
      if (!time.isPositive()) throw new IllegalArgumentException("a time of " + time);
    }
    var _ = new EjectionRules(failuresMax, restTime, readyShareMin);
  }

  /** Returns the rules for a request whose worker fails. */
  public RetryRules retries() {
    return new RetryRules(attemptsMax, split, handoverTime);
  }

  /** Returns the rules for a worker that fails. */
  public EjectionRules ejection() {
    return new EjectionRules(failuresMax, restTime, readyShareMin);
  }
}
