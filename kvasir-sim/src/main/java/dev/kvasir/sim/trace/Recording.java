package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Turn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;

/**
 * Sorts requests by arrival that were recorded at their end.
 *
 * <p>Holds them all, since the one that came first may have ended last.
 */
final class Recording {
  private final List<Captured> unsorted = new ArrayList<>();
  private @Nullable ArrayDeque<Captured> sorted;
  private PromptEstimates estimates = PromptEstimates.NONE;

  void add(Captured captured) {
    unsorted.add(captured);
  }

  /** The next one in order of arrival, its round and its think time told by those before it. */
  @Nullable
  Captured next() {
    if (sorted == null) sorted = sorted();
    return sorted.poll();
  }

  /** Returns what was found of prompts whose lengths are estimates, among those read so far. */
  PromptEstimates estimates() {
    return estimates;
  }

  private ArrayDeque<Captured> sorted() {
    unsorted.sort(Comparator.comparingLong(captured -> captured.request().arrivalNanos()));
    estimates = PromptEstimates.in(unsorted);
    unsorted.replaceAll(estimates::corrected);
    var rounds = new SessionRounds();
    var ends = new HashMap<String, Long>();
    var result = new ArrayDeque<Captured>(unsorted.size());
    for (var captured : unsorted) {
      var request = captured.request();
      var session = request.turn().session();
      if (session.isEmpty()) {
        result.add(captured);
        continue;
      }
      long arrival = request.arrivalNanos();
      var before = ends.put(session, arrival + captured.e2eNanos());
      long think = before == null ? 0 : Math.max(0, arrival - before);
      result.add(captured.in(new Turn(session, rounds.next(session), think)));
    }
    unsorted.clear();
    return result;
  }
}
