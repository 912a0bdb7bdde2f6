package dev.kvasir.model;

/**
 * Work of one sequence in a step: a chunk of its prompt, or its newest token.
 *
 * @param tokens the tokens to compute, at least one
 * @param firstPosition where in the sequence the first of them stands; all before it is computed
 * @param blocks the slots of the sequence's blocks from its beginning, as many as it needs or more
 * @param sampled whether the logits behind the last of the tokens are wanted
 */
@SuppressWarnings("ArrayRecordComponent")
public record StepRow(int[] tokens, int firstPosition, int[] blocks, boolean sampled) {
  public StepRow {
    if (tokens.length == 0 || firstPosition < 0) {
      throw new IllegalArgumentException(tokens.length + " tokens at " + firstPosition);
    }
    if ((long) firstPosition + tokens.length > (long) blocks.length * ModelShape.BLOCK_TOKENS) {
      throw new IllegalArgumentException(
          "%s tokens at %s do not fit into %s blocks"
              .formatted(tokens.length, firstPosition, blocks.length));
    }
  }

  /** Returns how many tokens the sequence has after the step. */
  int end() {
    return firstPosition + tokens.length;
  }
}
