package dev.kvasir.sim.latency;

/** Whole microseconds out of computed ones. */
final class Micros {
  private Micros() {}

  /** The whole part of a time that a formula gave. */
  static long whole(double micros) {
    if (!(micros >= 0 && micros < Long.MAX_VALUE)) {
      throw new IllegalArgumentException("a time of " + micros + " microseconds");
    }
    return (long) micros;
  }

  /** The whole part of a step's time, which is never nothing. */
  static long step(double micros) {
    return Math.max(1, whole(micros));
  }
}
