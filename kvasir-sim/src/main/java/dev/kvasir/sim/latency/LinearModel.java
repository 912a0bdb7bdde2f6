package dev.kvasir.sim.latency;

import java.util.List;

/**
 * A step as a constant, a share for each prefill token and a share for each decode token.
 *
 * @param overhead what goes on around the steps
 * @param stepMicros the cost of any step
 * @param prefillTokenMicros the cost of each prompt token computed
 * @param decodeTokenMicros the cost of each decode row
 */
public record LinearModel(
    RequestOverhead overhead,
    double stepMicros,
    double prefillTokenMicros,
    double decodeTokenMicros)
    implements LatencyModel {
  private static final int BETAS = 3;

  public LinearModel {
    Coefficients.check("beta", List.of(stepMicros, prefillTokenMicros, decodeTokenMicros), BETAS);
  }

  /** The model of coefficients as they stand on a command line: three alphas, three betas. */
  public static LinearModel of(List<Double> alphas, List<Double> betas) {
    Coefficients.check("beta", betas, BETAS);
    return new LinearModel(RequestOverhead.of(alphas), betas.get(0), betas.get(1), betas.get(2));
  }

  /** Its coefficients, in microseconds. */
  String describe() {
    return "a step of %s us, %s for a prefill token and %s for a decode token"
        .formatted(stepMicros, prefillTokenMicros, decodeTokenMicros);
  }

  @Override
  public long stepMicros(StepShape shape) {
    return Micros.step(
        stepMicros
            + prefillTokenMicros * shape.prefillTokens()
            + decodeTokenMicros * shape.decodes());
  }

  @Override
  public long decodeMicros(int decodes, long decodeContext) {
    return Micros.step(stepMicros + decodeTokenMicros * decodes);
  }

  @Override
  public long queueingMicros(int promptTokens) {
    return overhead.queueingMicros(promptTokens);
  }

  @Override
  public long outputTokenMicros() {
    return overhead.outputTokenMicros();
  }

  @Override
  public long afterDecodeMicros() {
    return 0;
  }
}
