package dev.kvasir.sim.latency;

import java.util.List;

/**
 * Cost of a request around the steps: a share for each prompt token before the queue, and one for
 * each output token.
 *
 * @param arrivalMicros the constant part of the way to the queue
 * @param promptTokenMicros what each prompt token adds to it
 * @param perOutputMicros what each output token takes beside the steps
 */
public record RequestOverhead(
    double arrivalMicros, double promptTokenMicros, double perOutputMicros) {
  /** No overhead at all. */
  public static final RequestOverhead NONE = new RequestOverhead(0, 0, 0);

  static final int ALPHAS = 3;

  public RequestOverhead {
    Coefficients.check("alpha", List.of(arrivalMicros, promptTokenMicros, perOutputMicros), ALPHAS);
  }

  /** The overhead of three coefficients in their usual order. */
  public static RequestOverhead of(List<Double> alphas) {
    Coefficients.check("alpha", alphas, ALPHAS);
    return new RequestOverhead(alphas.get(0), alphas.get(1), alphas.get(2));
  }

  /** The time until a request with such a prompt stands in the queue. */
  long queueingMicros(int promptTokens) {
    return Micros.whole(arrivalMicros + promptTokenMicros * promptTokens);
  }

  /** The time each output token takes beside the steps. */
  long outputTokenMicros() {
    return Micros.whole(perOutputMicros);
  }
}
