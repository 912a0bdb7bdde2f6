package dev.kvasir.sim.latency;

import java.util.List;

/** Checks of a list of coefficients before a model uses it. */
final class Coefficients {
  private Coefficients() {}

  /** Refuses a list that has another number of coefficients, or one that is no finite cost. */
  static void check(String name, List<Double> values, int count) {
    check(name, values, count, count);
  }

  /** Refuses a list whose number is out of range, or one that holds no finite cost. */
  static void check(String name, List<Double> values, int countMin, int countMax) {
    if (values.size() < countMin || values.size() > countMax) {
      throw new IllegalArgumentException(
          name
              + " needs "
              + (countMin == countMax ? countMin : countMin + " to " + countMax)
              + " coefficients and has "
              + values.size()
              + ": "
              + values);
    }
    for (int i = 0; i < values.size(); i++) {
      double value = values.get(i);
      if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException(
            name + " coefficient " + (i + 1) + " is " + value + "; give a number from 0 up");
      }
    }
  }
}
