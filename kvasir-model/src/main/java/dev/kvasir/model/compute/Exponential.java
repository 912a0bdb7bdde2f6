package dev.kvasir.model.compute;

/**
 * The exponential function in few steps that vectors can do too, right to about 1e-7.
 *
 * <p>{@code e^x = 2^n * e^r} with a whole n and a small r; a polynomial gives the second factor.
 */
final class Exponential {
  static final float MIN = -87;
  static final float MAX = 88;
  static final float LOG2_E = 0x1.715476p0f;

  /** Added and taken away again it rounds; its low bits then hold the whole number. */
  static final float ROUNDER = 0x1.8p23f;

  /** The natural logarithm of two in two parts; n times the first is exact. */
  static final float LN2_HIGH = 0x1.63p-1f;

  static final float LN2_LOW = -0x1.bd0106p-13f;

  static final float C2 = 0.5f;
  static final float C3 = 0.16666667f;
  static final float C4 = 0.041666668f;
  static final float C5 = 0.008333334f;
  static final float C6 = 0.0013888889f;
  static final int ONE_BITS = 0x3f80_0000;
  static final int MANTISSA_BITS = 23;

  private Exponential() {}

  static float exp(float x) {
    float bounded = Math.max(MIN, Math.min(MAX, x));
    float shifted = Math.fma(bounded, LOG2_E, ROUNDER);
    float n = shifted - ROUNDER;
    float r = Math.fma(n, -LN2_HIGH, bounded);
    r = Math.fma(n, -LN2_LOW, r);
    float p = Math.fma(C6, r, C5);
    p = Math.fma(p, r, C4);
    p = Math.fma(p, r, C3);
    p = Math.fma(p, r, C2);
    p = Math.fma(p, r, 1f);
    p = Math.fma(p, r, 1f);
    int power = (Float.floatToRawIntBits(shifted) << MANTISSA_BITS) + ONE_BITS;
    return p * Float.intBitsToFloat(power);
  }
}
