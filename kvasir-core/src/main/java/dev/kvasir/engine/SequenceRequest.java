package dev.kvasir.engine;

import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockNames;

/**
 * Request for an engine to compute a sequence.
 *
 * @param names the blocks of the prompt and of the output that follows it
 * @param outputTokensMax the largest number of output tokens
 * @param priority urgency; smaller is more urgent
 * @param arrivalNanos time when it came, on the clock of the engine's loop
 * @param tailTokens number of tokens behind the last block that can be cached that came along with
 *     it, computed elsewhere; they count only where all blocks before them are here
 * @param hint the caller's statement about the next turn of its conversation
 */
public record SequenceRequest(
    String id,
    BlockNames names,
    int promptTokens,
    int outputTokensMax,
    int priority,
    long arrivalNanos,
    int tailTokens,
    ReturnHint hint) {
  /** A request of which nothing was computed elsewhere but what is cached. */
  public SequenceRequest(
      String id,
      BlockNames names,
      int promptTokens,
      int outputTokensMax,
      int priority,
      long arrivalNanos) {
    this(id, names, promptTokens, outputTokensMax, priority, arrivalNanos, 0, ReturnHint.NONE);
  }

  public SequenceRequest {
    if (tailTokens < 0 || tailTokens > Math.max(0, promptTokens - 1)) {
      throw new IllegalArgumentException(
          "%s with %s prompt tokens and a tail of %s".formatted(id, promptTokens, tailTokens));
    }
    if (promptTokens < 0 || outputTokensMax < 0) {
      throw new IllegalArgumentException(
          "%s with %s prompt tokens and at most %s of output"
              .formatted(id, promptTokens, outputTokensMax));
    }
  }

  /** This request, whose caller said that. */
  public SequenceRequest withHint(ReturnHint hint) {
    return new SequenceRequest(
        id, names, promptTokens, outputTokensMax, priority, arrivalNanos, tailTokens, hint);
  }
}
