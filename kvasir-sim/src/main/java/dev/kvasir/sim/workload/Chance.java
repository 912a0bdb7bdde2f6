package dev.kvasir.sim.workload;

import java.util.SplittableRandom;

/**
 * Draws from distributions, the same values on every machine.
 *
 * <p>The generators of the library promise the same bits, but not the same logarithms.
 */
final class Chance {
  private final SplittableRandom random;
  private double spareGaussian = Double.NaN;

  private Chance(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Draws of their own for each path of keys below a seed. */
  static Chance of(long seed, long... path) {
    long key = Mix.spread(seed + Mix.GOLDEN);
    for (long step : path) key = Mix.spread(key + Mix.GOLDEN + Mix.spread(step));
    return new Chance(key);
  }

  /** At least 0, less than 1. */
  double uniform() {
    return random.nextDouble();
  }

  long uniform(long min, long max) {
    return random.nextLong(min, max + 1);
  }

  /** With mean 1. */
  double exponential() {
    return -StrictMath.log(1 - random.nextDouble());
  }

  /** With mean 0 and variance 1, by the polar method, which gives two at a time. */
  double gaussian() {
    if (!Double.isNaN(spareGaussian)) {
      double spare = spareGaussian;
      spareGaussian = Double.NaN;
      return spare;
    }
    while (true) {
      double x = 2 * random.nextDouble() - 1;
      double y = 2 * random.nextDouble() - 1;
      double square = x * x + y * y;
      if (square >= 1 || square == 0) continue;
      double factor = StrictMath.sqrt(-2 * StrictMath.log(square) / square);
      spareGaussian = y * factor;
      return x * factor;
    }
  }

  /** With scale 1, by Marsaglia and Tsang; below shape 1 by way of the shape above. */
  double gamma(double shape) {
    if (shape < 1) {
      return gamma(shape + 1) * StrictMath.pow(1 - random.nextDouble(), 1 / shape);
    }
    double d = shape - 1.0 / 3;
    double c = 1 / StrictMath.sqrt(9 * d);
    while (true) {
      double x = gaussian();
      double root = 1 + c * x;
      if (root <= 0) continue;
      double v = root * root * root;
      double u = 1 - random.nextDouble();
      if (StrictMath.log(u) < 0.5 * x * x + d - d * v + d * StrictMath.log(v)) return d * v;
    }
  }
}
