package dev.kvasir.sim.trace;

import dev.kvasir.sim.latency.MeasuredStep;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A capture as a whole: how the cluster was set, how long its steps took, and its requests.
 *
 * @param settings options of the simulator by name, in the order they were written; empty where
 *     nothing was
 * @param steps some of its steps; empty where nobody could time them
 * @param requests in order of arrival
 * @param runs how many runs the file holds that wrote down their settings
 */
public record Capture(
    SequencedMap<String, String> settings,
    List<MeasuredStep> steps,
    List<Captured> requests,
    int runs) {
  public Capture {
    settings = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(settings));
    steps = List.copyOf(steps);
    requests = List.copyOf(requests);
  }
}
