package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.trace.Captured;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Spread of the times of the requests of a server, which a fit compares.
 *
 * <p>Who was first among requests that came together is chance, so that spreads are compared and
 * not requests one by one.
 */
final class Spread {
  /** A time of a request, measured and predicted, in microseconds. */
  @SuppressWarnings("ImmutableEnumChecker") // its functions have no state
  enum Time {
    TTFT(each -> each.ttftNanos() / 1e3, RequestResult::ttftMicros),
    E2E(each -> each.e2eNanos() / 1e3, RequestResult::e2eMicros),
    DECODE(
        each -> (each.e2eNanos() - each.ttftNanos()) / 1e3,
        each -> each.e2eMicros() - each.ttftMicros());

    private final ToDoubleFunction<Captured> measured;
    private final ToDoubleFunction<RequestResult> predicted;

    Time(ToDoubleFunction<Captured> measured, ToDoubleFunction<RequestResult> predicted) {
      this.measured = measured;
      this.predicted = predicted;
    }

    double[] measured(List<Captured> requests) {
      return sorted(requests, measured);
    }

    double[] predicted(List<RequestResult> requests) {
      return sorted(requests, predicted);
    }

    double measured(Captured request) {
      return measured.applyAsDouble(request);
    }

    double predicted(RequestResult request) {
      return predicted.applyAsDouble(request);
    }

    private static <T> double[] sorted(List<T> requests, ToDoubleFunction<T> time) {
      var times = requests.stream().mapToDouble(time).toArray();
      Arrays.sort(times);
      return times;
    }
  }

  private Spread() {}

  /** The value below which that share of the sorted ones lies, between neighbours in proportion. */
  static double quantile(double[] sorted, double share) {
    double rank = Math.clamp(share, 0, 1) * (sorted.length - 1);
    int below = (int) rank;
    int above = Math.min(sorted.length - 1, below + 1);
    return sorted[below] + (rank - below) * (sorted[above] - sorted[below]);
  }

  /** Returns how far off the logarithm of a quantile is by chance, in so many requests. */
  static double chance(double[] sorted, double share) {
    double step = Math.sqrt(share * (1 - share) / sorted.length);
    double low = quantile(sorted, share - step);
    double high = quantile(sorted, share + step);
    return StrictMath.log(Math.max(1, high) / Math.max(1, low)) / 2;
  }
}
