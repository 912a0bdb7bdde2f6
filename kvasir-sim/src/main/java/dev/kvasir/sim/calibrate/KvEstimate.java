package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.trace.Captured;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Estimate of how much KV memory a server has, as far as its requests show it: what those that ran
 * at the same time held. Where many waited much longer than their prompts take, the memory was full
 * then.
 *
 * @param peakBlocks the most blocks that were held at a time: the memory has at least as many
 * @param isFull whether the memory was full, so that it has about as many
 */
public record KvEstimate(int peakBlocks, boolean isFull) {
  /** A first token later than so many times what its prompt takes on a slow GPU has waited. */
  private static final double LATE = 3;

  private static final double PROMPT_NANOS = 100e6;
  private static final double TOKEN_NANOS = 50e3;
  private static final double SHARE_LATE = 0.1;

  /** An estimate of what is held is off by as much: requests that made room still count. */
  private static final double OFF = 0.1;

  /** Returns whether a server with so many blocks cannot have held what its requests did. */
  public boolean contradicts(int blocks) {
    return blocks < (1 - OFF) * peakBlocks;
  }

  private record Change(long nanos, long tokens) {}

  /** Of requests that one server answered. */
  public static KvEstimate of(List<Captured> requests, int blockTokens) {
    var changes = new ArrayList<Change>();
    int late = 0;
    int shared = 0;
    for (var each : requests) {
      var request = each.request();
      int cached = each.cachedTokens() / blockTokens * blockTokens;
      shared = Math.max(shared, cached);
      long first = request.arrivalNanos() + each.ttftNanos();
      long end = request.arrivalNanos() + each.e2eNanos();
      long held = request.promptTokens() - cached + request.outputTokens() / 2L;
      changes.add(new Change(first, held));
      changes.add(new Change(end, -held));
      if (each.ttftNanos()
          > LATE * (PROMPT_NANOS + TOKEN_NANOS * (request.promptTokens() - cached))) late++;
    }
    // Who ends when another begins may have made room for it.
    changes.sort(Comparator.comparingLong(Change::nanos).thenComparingLong(Change::tokens));
    long held = shared;
    long peak = 0;
    for (var change : changes) {
      held += change.tokens;
      peak = Math.max(peak, held);
    }
    int blocks = (int) Math.min(Integer.MAX_VALUE, Math.ceilDiv(peak, blockTokens));
    return new KvEstimate(Math.max(1, blocks), late > SHARE_LATE * requests.size());
  }
}
