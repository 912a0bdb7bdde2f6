package dev.kvasir.gpu.model;

/**
 * Work of one sequence in a step: a chunk of its prompt, or its newest token.
 *
 * @param tokens the tokens to compute; one that is negative is the token that the sample {@code
 *     ~token} of the step before came to, which the host need not know
 * @param position where in the sequence the first of them stands; all before it is computed
 * @param blocks the slots of the sequence's blocks from its beginning, as many as it needs or more
 * @param choice how a token is chosen behind the last one
 */
@SuppressWarnings("ArrayRecordComponent")
public record GpuRow(int[] tokens, int position, int[] blocks, Choice choice) {
  /** Way in which a token is chosen. */
  public sealed interface Choice {
    /** None is wanted. */
    record None() implements Choice {}

    /** The likeliest. */
    record Likeliest() implements Choice {}

    /** By chance, from all of them. */
    record Drawn(float temperature, long seed) implements Choice {
      public Drawn {
        if (!(temperature > 0)) throw new IllegalArgumentException("temperature " + temperature);
      }
    }
  }

  public GpuRow {
    int end = position + tokens.length;
    if (tokens.length == 0 || position < 0 || end > blocks.length * GpuShape.BLOCK_TOKENS) {
      throw new IllegalArgumentException(
          tokens.length + " tokens at " + position + " in " + blocks.length + " blocks");
    }
  }

  /** Returns how many tokens the sequence has after the step. */
  int end() {
    return position + tokens.length;
  }

  boolean isSampled() {
    return !(choice instanceof Choice.None);
  }
}
