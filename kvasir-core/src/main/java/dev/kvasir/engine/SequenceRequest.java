package dev.kvasir.engine;

import dev.kvasir.kv.BlockNames;

/**
 * What an engine is asked to compute.
 *
 * @param names the blocks of the prompt and of the output that follows it
 * @param outputTokensMax where the output ends at the latest
 * @param priority smaller is more urgent
 * @param arrivalNanos when it came, on the clock of the engine's loop
 */
public record SequenceRequest(
    String id,
    BlockNames names,
    int promptTokens,
    int outputTokensMax,
    int priority,
    long arrivalNanos) {
  public SequenceRequest {
    if (promptTokens < 0 || outputTokensMax < 0) {
      throw new IllegalArgumentException(
          "%s with %s prompt tokens and at most %s of output"
              .formatted(id, promptTokens, outputTokensMax));
    }
  }
}
