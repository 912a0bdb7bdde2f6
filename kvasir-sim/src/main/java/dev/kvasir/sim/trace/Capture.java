package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.latency.MeasuredStep;
import dev.kvasir.spec.Written;
import java.util.List;

/**
 * A capture as a whole: how the cluster was set, how long its steps took, and its requests.
 *
 * @param deployment as a file would describe it; null where the capture does not
 * @param steps some of its steps; empty where nobody could time them
 * @param requests in order of arrival
 * @param runs how many runs the file holds that wrote down their settings
 * @param notes what had to be corrected in it
 * @param calls how often a server was called for a request: once if the router named most prompts
 *     by their bytes, else twice, since it asked for their tokens first
 */
public record Capture(
    Written.@Nullable Keys deployment,
    List<MeasuredStep> steps,
    List<Captured> requests,
    int runs,
    List<String> notes,
    int calls) {
  /** Calls for a request by a router that knows prompts by the tokens of their server. */
  public static final int CALLS_USUAL = 2;

  public Capture {
    notes = List.copyOf(notes);
    steps = List.copyOf(steps);
    requests = List.copyOf(requests);
  }
}
