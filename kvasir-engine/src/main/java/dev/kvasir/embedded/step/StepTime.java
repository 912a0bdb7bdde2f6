package dev.kvasir.embedded.step;

import dev.kvasir.engine.Batch;

/**
 * Work of a step, and the time it took.
 *
 * @param prefillContext tokens that each prompt token looked back on, all together
 * @param decodeContext the same for the decode rows
 * @param nanos from the begin of its turn until the engine heard of its end; where somebody
 *     decodes, what the engine did since the step before counts to the turn
 * @param idleNanos time for which a device with a clock of its own waited for it, while somebody
 *     waited for an answer
 */
public record StepTime(
    long prefillTokens,
    long prefillContext,
    int decodes,
    long decodeContext,
    long nanos,
    long idleNanos) {
  static StepTime of(Batch batch, long nanos) {
    return of(batch, nanos, 0);
  }

  static StepTime of(Batch batch, long nanos, long idleNanos) {
    long tokens = 0;
    long context = 0;
    for (var part : batch.parts()) {
      tokens += part.tokens();
      context += (long) part.tokens() * part.start() + part.tokens() * (part.tokens() - 1L) / 2;
    }
    return new StepTime(
        tokens, context, batch.decodes(), batch.decodeContextTokens(), nanos, idleNanos);
  }
}
