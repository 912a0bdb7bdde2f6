package dev.kvasir.sim.latency;

import java.util.List;

/**
 * A step as a constant, a share for each prefill token and a share for each decode token, and
 * perhaps for each token that these look back on.
 *
 * @param overhead what goes on around the steps
 * @param stepMicros the cost of any step
 * @param prefillTokenMicros the cost of each prompt token computed
 * @param decodeTokenMicros the cost of each decode row
 * @param prefillContextMicros the cost of each token before a prompt token, for that token
 * @param decodeContextMicros the cost of each token before a decode row, for that row
 */
public record LinearModel(
    RequestOverhead overhead,
    double stepMicros,
    double prefillTokenMicros,
    double decodeTokenMicros,
    double prefillContextMicros,
    double decodeContextMicros)
    implements LatencyModel {
  private static final int BETAS = 3;
  private static final int BETAS_WITH_CONTEXT = 5;

  public LinearModel {
    Coefficients.check(
        "beta",
        List.of(
            stepMicros,
            prefillTokenMicros,
            decodeTokenMicros,
            prefillContextMicros,
            decodeContextMicros),
        BETAS_WITH_CONTEXT);
  }

  /** One that does not see the context. */
  static LinearModel of(RequestOverhead overhead, double step, double prefill, double decode) {
    return new LinearModel(overhead, step, prefill, decode, 0, 0);
  }

  /**
   * The model of coefficients as they stand on a command line: three alphas, three or five betas.
   */
  public static LinearModel of(List<Double> alphas, List<Double> betas) {
    var overhead = RequestOverhead.of(alphas);
    if (betas.size() != BETAS_WITH_CONTEXT) {
      Coefficients.check("beta", betas, BETAS);
      return of(overhead, betas.get(0), betas.get(1), betas.get(2));
    }
    return new LinearModel(
        overhead, betas.get(0), betas.get(1), betas.get(2), betas.get(3), betas.get(4));
  }

  /** The coefficients of a step, as {@link #of} takes them. */
  public List<Double> betas() {
    return List.of(
        stepMicros,
        prefillTokenMicros,
        decodeTokenMicros,
        prefillContextMicros,
        decodeContextMicros);
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
            + decodeTokenMicros * shape.decodes()
            + prefillContextMicros * shape.prefillContext()
            + decodeContextMicros * shape.decodeContext());
  }

  @Override
  public long decodeMicros(int decodes, long decodeContext) {
    return Micros.step(
        stepMicros + decodeTokenMicros * decodes + decodeContextMicros * decodeContext);
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
