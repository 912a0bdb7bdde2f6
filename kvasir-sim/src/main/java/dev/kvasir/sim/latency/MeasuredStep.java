package dev.kvasir.sim.latency;

/**
 * A forward pass of an engine, in sums, and how long it took there.
 *
 * @param prefillContext for each prompt token, the tokens it looked back on, all together
 * @param decodeContext the same for the decode rows
 */
public record MeasuredStep(
    long prefillTokens, long prefillContext, long decodes, long decodeContext, double micros) {
  public MeasuredStep {
    boolean isEmpty = prefillTokens + decodes == 0;
    if (prefillTokens < 0 || prefillContext < 0 || decodes < 0 || decodeContext < 0 || isEmpty) {
      throw new IllegalArgumentException(
          "a step of %s prompt tokens after %s and %s rows after %s"
              .formatted(prefillTokens, prefillContext, decodes, decodeContext));
    }
    if (!(micros > 0)) throw new IllegalArgumentException("a step of " + micros + " us");
  }

  /** Returns what each coefficient of a linear model is multiplied with. */
  double[] factors() {
    return new double[] {1, prefillTokens, decodes, prefillContext, decodeContext};
  }
}
