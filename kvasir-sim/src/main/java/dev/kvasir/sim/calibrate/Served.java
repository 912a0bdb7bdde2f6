package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.trace.Captured;
import java.util.List;

/**
 * Answers of one server while one capture was made.
 *
 * @param source the capture, and the server if it has several
 * @param requests in order of arrival
 * @param weight how much it counts in a fit, from 0 to 1
 */
public record Served(String source, List<Captured> requests, Limits limits, double weight) {
  public Served {
    requests = List.copyOf(requests);
    if (!(weight > 0 && weight <= 1)) {
      throw new IllegalArgumentException(source + " counts " + weight + "; it is above 0, up to 1");
    }
  }
}
