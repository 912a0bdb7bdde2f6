package dev.kvasir.model.compute;

/** The partial sums that every sum over a row is made of, whatever the width of the vectors. */
final class Lanes {
  /** Number of partial sums, and of the tokens of a block; no vector has more lanes. */
  static final int COUNT = 16;

  private Lanes() {}

  /** Adds up the partial sums, always in the same order. */
  static float sum(float[] partial) {
    float sum = 0;
    for (int i = 0; i < COUNT / 2; i++) sum += partial[i] + partial[i + COUNT / 2];
    return sum;
  }
}
