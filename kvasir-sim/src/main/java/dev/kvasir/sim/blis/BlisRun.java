package dev.kvasir.sim.blis;

import dev.kvasir.sim.report.Gaps;
import dev.kvasir.sim.report.RequestResult;
import java.util.List;

/** What a run gave: each request in the order of arrival, and the totals of each instance. */
public record BlisRun(List<RequestResult> requests, List<Totals> instances) {
  /** What one instance did. */
  public record Totals(
      int waiting,
      int running,
      long preemptions,
      long inputTokens,
      long clockMicros,
      double hitRate,
      Gaps gaps) {}
}
