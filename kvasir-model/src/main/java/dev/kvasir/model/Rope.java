package dev.kvasir.model;

import dev.kvasir.Nullable;

/**
 * Rotary position embedding: rotates pairs of numbers in a head by angles that grow with the
 * position.
 */
final class Rope {
  private final int half;
  private final int step;
  private final int distance;
  private final float[] cosines;
  private final float[] sines;

  /**
   * Computes all angles.
   *
   * @param divisors by what each frequency is divided, where the model has a table of that
   */
  Rope(ModelShape shape, float @Nullable [] divisors) {
    this.half = shape.headSize() / 2;
    boolean neighbours = shape.architecture() == Architecture.LLAMA;
    this.step = neighbours ? 2 : 1;
    this.distance = neighbours ? 1 : half;
    this.cosines = new float[shape.contextTokens() * half];
    this.sines = new float[shape.contextTokens() * half];
    for (int i = 0; i < half; i++) {
      double frequency = StrictMath.pow(shape.ropeBase(), -2.0 * i / shape.headSize());
      if (divisors != null) frequency /= divisors[i];
      for (int position = 0; position < shape.contextTokens(); position++) {
        cosines[position * half + i] = (float) StrictMath.cos(position * frequency);
        sines[position * half + i] = (float) StrictMath.sin(position * frequency);
      }
    }
  }

  /** Turns one head, and multiplies it by a factor. */
  void turn(float[] x, int from, int position, float factor) {
    int angle = position * half;
    for (int i = 0; i < half; i++) {
      int at = from + i * step;
      float a = x[at];
      float b = x[at + distance];
      float cosine = cosines[angle + i];
      float sine = sines[angle + i];
      x[at] = (a * cosine - b * sine) * factor;
      x[at + distance] = (a * sine + b * cosine) * factor;
    }
  }
}
