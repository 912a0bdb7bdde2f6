package dev.kvasir.bench;

import java.util.Arrays;

/** The middle of what several rounds gave. */
public final class Median {
  private Median() {}

  public static double of(double[] numbers) {
    var sorted = numbers.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Of the ratios round by round, so that what slows a whole round down does not count. */
  public static double ratio(double[] ones, double[] others) {
    var ratios = new double[ones.length];
    Arrays.setAll(ratios, i -> ones[i] / others[i]);
    return of(ratios);
  }
}
